import {
  type FunctionSetting,
  oneOf,
  type Setting,
  type SettingKind,
  type SettingValues,
  settings,
  wholeNumber,
} from '../../lib/settings.ts';

/** A text of a form. @param description - completes "NAME has to be …" */
const matching = (pattern: RegExp, description: string): SettingKind<string> => ({
  description,
  parse: (value) => (pattern.test(value) ? value : undefined),
});

const optional = <Of extends SettingKind<unknown>>(kind: Of) => ({ kind, default: '' }) as const;

/** The retention periods of CloudWatch Logs (API Reference, "PutRetentionPolicy") that the framework knows. */
const retentionDays = [
  ...[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180],
  ...[365, 400, 545, 731, 1827, 2192, 2557, 2922, 3288, 3653],
];

const share: SettingKind<number> = {
  description: 'a share, above 0 and at most 1, like 0.01',
  parse: (value) => (/^\d(\.\d+)?$/.test(value) && Number(value) > 0 && Number(value) <= 1 ? Number(value) : undefined),
};

// With 0, API Gateway would refuse every request.
const requestsPerSecond = { kind: wholeNumber('requests per second', 1, 1_000_000) };
const burst = { kind: wholeNumber('requests', 1, 1_000_000) };

type Settings = typeof settings;

/** The settings that anyone may read. */
type PublicSettings = {
  [Name in keyof Settings as Settings[Name] extends { readonly isSecret: true } ? never : Name]: Settings[Name];
};

const publicSettings = Object.fromEntries(
  Object.entries<FunctionSetting>(settings).filter(([, { isSecret }]) => !isSecret),
) as unknown as PublicSettings;

/** Settings of the functions are parameters, with the check of their start. The stack makes the values of the others. */
const { username: _username, table: _table, ...ofFunctions } = publicSettings;

/**
 * The parameters of serverless/stages.yml, and what they may be. Values that AWS would refuse are refused before a deploy changes anything.
 */
export const stageParameters = {
  ...ofFunctions,
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burst,
  tokenThrottlingRateLimit: requestsPerSecond,
  tokenThrottlingBurstLimit: burst,
  logRetentionInDays: { kind: oneOf(...retentionDays.map(String)) },
  deletionProtection: { kind: oneOf('true', 'false') },
  // The name of the budget holds the address (serverless/resources/budget.yml), and has at most 100 characters.
  alarmEmail: optional(
    matching(/^(?=.{3,80}$)[^\s@:\\]+@[^\s@:\\]+\.[^\s@:\\]+$/, 'an email address of at most 80 characters'),
  ),
  domainName: optional(
    matching(/^(?=.{4,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/, 'a domain name in lower case'),
  ),
  certificateArn: optional(
    matching(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'the ARN of a certificate in ACM'),
  ),
  hostedZoneId: optional(matching(/^Z[A-Z\d]{1,31}$/, 'the id of a hosted zone, like Z0123456789ABCDEFGHIJ')),
  // With less, the smoke test, of over 4,000 requests, would not end in the pipeline's ten minutes. The maximum is AWS WAF's.
  requestsPerAddress: optional(wholeNumber('requests per minute', 500, 2_000_000_000)),
  permissionsBoundary: optional(
    matching(/^arn:aws[\w-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/, 'the ARN of a policy'),
  ),
  // Within the hour of its credentials, the pipeline also needs time for a smoke test and a rollback.
  monitoringMinutes: { kind: wholeNumber('minutes', 0, 30) },
  monthlyBudget: optional(wholeNumber('US dollars', 1, 1_000_000)),
  // The smoke test reads four lists at a time, and clients need some as well.
  listConcurrency: optional(wholeNumber('instances', 5, 1_000)),
  probe: optional(oneOf('on')),
  endpointAccessMode: optional(oneOf('STRICT', 'BASIC')),
  maxErrorShare: { kind: share },
  maxLatencyMs: { kind: wholeNumber('milliseconds', 1, 900_000) },
  maxConcurrency: { kind: wholeNumber('instances', 1, 1_000_000) },
  architecture: { kind: oneOf('arm64', 'x86_64') },
} as const satisfies Readonly<Record<string, Setting>>;

type Values = SettingValues<typeof stageParameters>;

/** The parameters of a stage, from serverless/stages.yml, Parameter Store and the command line. The last two are texts. */
export type StageParameters = {
  readonly [Name in keyof Values]: Values[Name] extends string | undefined ? string : string | number;
};

/** @returns sentences that say what is wrong with the parameters of a stage, or `undefined` */
export function findParameterProblem(parameters: StageParameters, region: string): string | undefined {
  const wrong = Object.entries(stageParameters).flatMap(([name, { kind, ...setting }]: [string, Setting]) => {
    const value = String(parameters[name as keyof StageParameters]);
    const isOptional = setting.default === '';
    const isRight = value === '' ? isOptional : kind.parse(value, {}) !== undefined;
    return isRight ? [] : `${name} has to be ${kind.description}${isOptional ? ', or unset' : ''}.`;
  });
  if (wrong.length > 0) return wrong.join(' ');
  const { domainName, certificateArn, hostedZoneId, alarmEmail, monthlyBudget } = parameters;
  // Each sentence, and whether it applies.
  const problems: Readonly<Record<string, boolean>> = {
    'certificateArn and hostedZoneId need domainName.': domainName === '' && certificateArn + hostedZoneId !== '',
    [`domainName needs certificateArn, a certificate in ${region}, the region of the stage.`]:
      domainName !== '' && certificateArn.split(':')[3] !== region,
    'monthlyBudget needs alarmEmail.': monthlyBudget !== '' && alarmEmail === '',
  };
  return Object.keys(problems).find((problem) => problems[problem]);
}
