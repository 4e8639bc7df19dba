import { type FunctionSetting, type Setting, type SettingKind, settings, wholeNumber } from '../../lib/settings.ts';
import { stages } from './target.ts';

/** The retention periods of CloudWatch Logs (API Reference, "PutRetentionPolicy") that the framework knows. */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 2192, 2557, 2922, 3288, 3653,
].map(String);

const retention: SettingKind<string> = {
  description: `one of ${retentionDays.map((days) => `"${days}"`).join(', ')}`,
  parse: (value) => (retentionDays.includes(value) ? value : undefined),
};

const rate: SettingKind<number> = {
  description: 'a rate, above 0 and at most 1, like 0.01',
  parse: (value) => (/^\d(\.\d+)?$/.test(value) && Number(value) > 0 && Number(value) <= 1 ? Number(value) : undefined),
};

// With 0, API Gateway would refuse every request.
const requestsPerSecond = { kind: wholeNumber('requests per second', 1, 1_000_000) };
const burst = { kind: wholeNumber('requests', 1, 1_000_000) };

export const parameterNames: readonly string[] = Object.keys(stages.default ?? {});

/** With a wrong value, the functions would not start. */
const ofFunctions = Object.fromEntries(
  Object.entries<FunctionSetting>(settings).filter(([name]) => parameterNames.includes(name)),
);

/**
 * The parameters in serverless/stages.yml that a deploy checks, because a wrong value would be deployed. CloudFormation
 * itself refuses a wrong value of any other parameter.
 */
export const checkedParameters: Readonly<Record<string, Setting>> = {
  ...ofFunctions,
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burst,
  tokenThrottlingRateLimit: requestsPerSecond,
  tokenThrottlingBurstLimit: burst,
  logRetentionInDays: { kind: retention },
  maxErrorRate: { kind: rate },
};

/** The parameters that plugins use. A number is a text when it comes from the command line. */
export interface StageParameters {
  /** The empty text when there is none. */
  readonly alarmEmail: string;
  readonly corsOrigin: string;
  readonly permissionsBoundary: string;
  readonly requestsPerAddress: string | number;
  readonly monitoringMinutes: string | number;
}

/**
 * @param parameters - the values of all parameters of a stage
 * @param overrides - those of the command line, like `corsOrigin=https://docs.example.com`
 * @returns sentences that say what is wrong, or `undefined`
 */
export function findParameterProblem(
  stage: string,
  parameters: Readonly<Record<string, unknown>>,
  overrides: readonly string[] = [],
): string | undefined {
  const given = [...Object.keys(stages[stage] ?? {}), ...overrides.map((text) => text.split('=', 1)[0] ?? '')];
  const unknown = given.filter((name) => !parameterNames.includes(name));
  if (unknown.length > 0)
    return `${unknown.join(', ')} is not a parameter. Parameters are ${parameterNames.join(', ')}.`;
  const wrong = Object.entries(checkedParameters).flatMap(([name, { kind, ...setting }]) => {
    const value = String(parameters[name]);
    const isOptional = setting.default === '';
    const isRight = value === '' ? isOptional : kind.parse(value, {}) !== undefined;
    return isRight ? [] : `${name} has to be ${kind.description}${isOptional ? ', or empty' : ''}.`;
  });
  return wrong.length > 0 ? wrong.join(' ') : undefined;
}
