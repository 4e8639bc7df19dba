import type { Credentials } from './auth/credentials.ts';
import { parseTableUrl, type TableLocation } from './dynamodb/table-url.ts';
import { namedError } from './named-error.ts';

/** The settings of every endpoint. */
export interface EndpointConfig {
  /** SECRET_TOKEN: the secret of the tokens' signatures. */
  readonly signingSecret: string;
  /** CORS_ORIGIN: the web site whose scripts may read responses; none when it is empty or not set. */
  readonly corsOrigin: string | undefined;
}

/** All settings. */
export interface Config extends EndpointConfig {
  /** AUTH_USERNAME and AUTH_PASSWORD: the one credential pair. */
  readonly credentials: Credentials;
  /** DB_URL: the table of the books. */
  readonly table: TableLocation;
}

/** For endpoints that are not AWS's own and so name no region. */
const defaultRegion = 'us-east-1';

/** The configuration cannot be loaded. The message names every setting that is wrong. */
export class ConfigError extends namedError('ConfigError') {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be loaded: ${problems.join('; ')}.`);
  }
}

/**
 * Loads the settings of every endpoint, and those of one endpoint.
 *
 * @param parts - the settings that not every endpoint has
 * @throws {ConfigError} when a setting is missing, empty or malformed
 */
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
    corsOrigin: () => readOrigin(environment.CORS_ORIGIN || undefined, problems),
    credentials: () => ({ username: required('AUTH_USERNAME'), password: required('AUTH_PASSWORD') }),
    table: () => readTable(required('DB_URL'), environment.AWS_REGION || defaultRegion, problems),
  };
  const names = ['signingSecret', 'corsOrigin', ...parts] as const;
  const config: Partial<Config> = Object.fromEntries(names.map((name) => [name, readers[name]()]));
  if (problems.length > 0) throw new ConfigError(problems);
  return config as EndpointConfig & Pick<Config, Part>;
}

function readOrigin(origin: string | undefined, problems: string[]): string | undefined {
  const url = origin === undefined ? null : URL.parse(origin);
  if (origin !== undefined && !(url?.origin === origin && /^https?:$/.test(url.protocol))) {
    problems.push('CORS_ORIGIN is not the origin of a web site, like https://docs.example.com');
  }
  return origin;
}

function readTable(url: string, region: string, problems: string[]): TableLocation | undefined {
  const location = parseTableUrl(url, region);
  if (url !== '' && location === undefined) {
    problems.push(
      'DB_URL is not the URL of a DynamoDB endpoint with a table name of 3 to 255 letters, digits, "_", "-" or "." ' +
        'as its path, like https://dynamodb.eu-west-1.amazonaws.com/books or http://127.0.0.1:8000/books',
    );
  }
  return location;
}
