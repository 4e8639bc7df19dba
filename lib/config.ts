import { writeLog } from './log.ts';
import { namedError } from './named-error.ts';
import { type Environment, type FunctionSetting, type SettingValues, settings } from './settings.ts';

/** All settings. */
export type Config = SettingValues<typeof settings>;

/** The settings of every endpoint. */
export type EndpointConfig = Pick<Config, 'corsOrigin'>;

/** The settings of the check of a token. */
export const tokenSettings = ['signingSecret'] as const;

/** The settings of an endpoint that requires a token. */
export type ProtectedConfig = EndpointConfig & Pick<Config, (typeof tokenSettings)[number]>;

/** The configuration cannot be loaded. The message names every setting that is wrong. */
export class ConfigError extends namedError('ConfigError') {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be loaded: ${problems.join('; ')}.`);
  }
}

/** The length of HS256's output, which RFC 7518 section 3.2 requires of a key. */
const minSecretBytes = 32;

/** Loads the settings of every endpoint, and the given ones. @throws {ConfigError} that names all wrong settings */
export function loadConfig<Name extends keyof Config>(
  names: readonly Name[],
  environment: Environment = process.env,
): EndpointConfig & Pick<Config, Name> {
  return parseSettings(settings, ['corsOrigin', ...names], environment);
}

/** Parses the settings of a table. @throws {ConfigError} that names all wrong settings */
export function parseSettings<Name extends string, Table extends Readonly<Record<Name, FunctionSetting>>>(
  table: Table,
  names: readonly Name[],
  environment: Environment,
): Pick<SettingValues<Table>, Name> {
  const problems: string[] = [];
  const values = names.map((name) => {
    const { variable, kind, default: fallback } = table[name];
    const text = environment[variable] ?? fallback ?? '';
    if (text.trim() === '') {
      const isOptional = fallback === '';
      if (!isOptional) problems.push(`${variable} is ${environment[variable] === undefined ? 'not set' : 'blank'}`);
      return [name, undefined];
    }
    const value = kind.parse(text, environment);
    if (value === undefined) problems.push(`${variable} is not ${kind.description}`);
    return [name, value];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.fromEntries(values);
}

/** Logs a warning about a secret that is short enough to be guessed. */
export function warnOfWeakSecret({ signingSecret }: Pick<Config, 'signingSecret'>): void {
  if (Buffer.byteLength(signingSecret) < minSecretBytes)
    writeLog('WARN', `SECRET_TOKEN has fewer than ${minSecretBytes} bytes and may be guessed`);
}
