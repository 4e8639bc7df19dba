import type { Credentials } from './auth/credentials.ts';
import { parseTableUrl, type TableLocation } from './dynamodb/table-url.ts';

/** Everything that the service can be configured with. */
export interface Config {
  /** SECRET_TOKEN: what tokens are signed with. */
  readonly signingSecret: string;
  /** AUTH_USERNAME and AUTH_PASSWORD: the one credential pair. */
  readonly credentials: Credentials;
  /** DB_URL: where the books are. */
  readonly table: TableLocation;
  /** CORS_ORIGIN: the origin whose scripts may read the responses; none when it is empty or not set. */
  readonly corsOrigin: string | undefined;
}

/** The settings of every endpoint, public ones included: one function checks what another one issues. */
export type EndpointConfig = Pick<Config, (typeof endpointParts)[number]>;

const endpointParts = ['signingSecret', 'corsOrigin'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration cannot be loaded. The message names every setting that is wrong and what it has to be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be loaded: ${problems.join('; ')}.`);
  }
}

/**
 * Loads the settings of every endpoint and those that a function uses besides.
 *
 * @param parts - the further members of {@link Config} to load
 * @param environment - settings by name
 * @returns the settings
 * @throws {ConfigError} when a setting is missing, empty or malformed; it names all that are
 */
export function loadConfig<Part extends keyof Config>(
  parts: readonly Part[],
  environment: Environment = process.env,
): Pick<Config, Part> & EndpointConfig {
  const problems: string[] = [];
  const setting = (name: string): string => {
    const value = environment[name] ?? '';
    if (value === '') problems.push(`${name} is ${environment[name] === undefined ? 'not set' : 'empty'}`);
    return value;
  };
  const config: Partial<Config> = Object.fromEntries(
    [...endpointParts, ...parts].map((part) => [part, readers[part](setting, environment, problems)]),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return config as Pick<Config, Part> & EndpointConfig;
}

type Reader<Value> = (
  setting: (name: string) => string,
  environment: Environment,
  problems: string[],
) => Value | undefined;

/** For engines that have no regions; AWS's endpoints name theirs, and Lambda sets AWS_REGION. */
const defaultRegion = 'us-east-1';

const readers: { readonly [Part in keyof Config]: Reader<Config[Part]> } = {
  signingSecret(setting) {
    return setting('SECRET_TOKEN');
  },

  credentials(setting) {
    return { username: setting('AUTH_USERNAME'), password: setting('AUTH_PASSWORD') };
  },

  corsOrigin(_setting, environment, problems) {
    const origin = environment.CORS_ORIGIN || undefined;
    const url = origin === undefined ? null : URL.parse(origin);
    if (origin !== undefined && !(url?.origin === origin && /^https?:$/.test(url.protocol))) {
      problems.push('CORS_ORIGIN is not the origin of a web site, like https://docs.example.com');
    }
    return origin;
  },

  table(setting, environment, problems) {
    const url = setting('DB_URL');
    if (url === '') return undefined;
    const location = parseTableUrl(url, environment.AWS_REGION || defaultRegion);
    if (location === undefined) {
      problems.push(
        'DB_URL is not the URL of a DynamoDB endpoint with a table name of 3 to 255 letters, digits, "_", "-" or "." ' +
          'as its path, like https://dynamodb.eu-west-1.amazonaws.com/books or http://127.0.0.1:8000/books',
      );
    }
    return location;
  },
};
