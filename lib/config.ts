import type { Credentials } from './auth/credentials.ts';
import type { TableLocation } from './dynamodb/client.ts';
import { parseTableUrl } from './dynamodb/table-url.ts';
import { writeLog } from './log.ts';
import { namedError } from './named-error.ts';

/** The settings of every endpoint. */
export interface EndpointConfig {
  /** SECRET_TOKEN. */
  readonly signingSecret: string;
  /** CORS_ORIGIN, the web site whose scripts may read responses. */
  readonly corsOrigin: string | undefined;
}

/** All settings. */
export interface Config extends EndpointConfig {
  /** AUTH_USERNAME and AUTH_PASSWORD. */
  readonly credentials: Credentials;
  /** DB_URL. */
  readonly table: TableLocation;
}

/** The configuration cannot be loaded. The message names every setting that is wrong. */
export class ConfigError extends namedError('ConfigError') {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be loaded: ${problems.join('; ')}.`);
  }
}

/** The length of HS256's output, which RFC 7518 section 3.2 requires of a key. */
const minSecretBytes = 32;

const originProblem = 'CORS_ORIGIN is not the origin of a web site, like https://docs.example.com';
const tableProblem =
  'DB_URL is not the URL of a DynamoDB endpoint with a table name of 3 to 255 letters, digits, "_", "-" or "." ' +
  'as its path, like https://dynamodb.eu-west-1.amazonaws.com/books or http://127.0.0.1:8000/books';

/** Loads the settings of every endpoint, and the given parts. @throws {ConfigError} that names all wrong settings */
export function loadConfig<Part extends 'credentials' | 'table'>(
  parts: readonly Part[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): EndpointConfig & Pick<Config, Part> {
  const problems: string[] = [];
  const required = (name: string): string => {
    const value = environment[name] ?? '';
    if (value === '') problems.push(`${name} is ${environment[name] === undefined ? 'not set' : 'empty'}`);
    return value;
  };
  const readers: { readonly [Name in keyof Config]: () => Config[Name] | undefined } = {
    signingSecret: () => required('SECRET_TOKEN'),
    corsOrigin: () => {
      const origin = environment.CORS_ORIGIN || undefined;
      if (origin !== undefined && !isWebOrigin(origin)) problems.push(originProblem);
      return origin;
    },
    credentials: () => ({ username: required('AUTH_USERNAME'), password: required('AUTH_PASSWORD') }),
    table: () => {
      const url = required('DB_URL');
      const location = parseTableUrl(url, environment.AWS_REGION || undefined);
      if (url !== '' && location === undefined) problems.push(tableProblem);
      return location;
    },
  };
  const names = ['signingSecret', 'corsOrigin', ...parts] as const;
  const config = Object.fromEntries(names.map((name) => [name, readers[name]()]));
  if (problems.length === 0) return config as EndpointConfig & Pick<Config, Part>;
  throw new ConfigError(problems);
}

/** Logs a warning about a secret that is short enough to be guessed. */
export function warnOfWeakSecret({ signingSecret }: EndpointConfig): void {
  if (Buffer.byteLength(signingSecret) < minSecretBytes)
    writeLog('WARN', `SECRET_TOKEN has fewer than ${minSecretBytes} bytes and may be guessed`);
}

const isWebOrigin = (text: string) => URL.parse(text)?.origin === text && /^https?:/.test(text);
