import { join, resolve } from 'node:path';
import { type Config, ConfigError, loadConfig } from '../../lib/config.ts';
import type { TableLocation } from '../../lib/dynamodb/client.ts';
import { readDotEnv } from './dot-env.ts';
import { StartError } from './start-error.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** For the local service only. Deployed stages have generated secrets. */
const localDefaults: Settings = {
  SECRET_TOKEN: 'for local development only, never for production',
  AUTH_USERNAME: 'admin',
  AUTH_PASSWORD: 'password',
  DB_PATH: '.dynamodb',
};

export interface LocalConfig extends Pick<Config, 'signingSecret' | 'credentials' | 'corsOrigin'> {
  /** DB_URL. Without it, the books are in the embedded engine. */
  readonly table?: TableLocation;
  /** DB_PATH, the folder of the embedded engine's data, as an absolute path. */
  readonly dataFolder: string;
}

/**
 * Loads the configuration from the environment, then from the directory's `.env`, then from defaults. An empty variable
 * counts as set. DB_PATH in the environment overrides DB_URL in `.env`.
 *
 * @throws {StartError} when a setting is wrong
 */
export function loadLocalConfig(directory: string, environment: Settings): LocalConfig {
  const dotEnv = readDotEnv(join(directory, '.env'));
  const unset = environment.DB_PATH === undefined ? {} : { DB_URL: undefined };
  const settings: Settings = { ...localDefaults, ...dotEnv, ...unset, ...environment };
  const dataFolder = settings.DB_PATH || undefined;
  try {
    if (dataFolder === undefined) throw new ConfigError(['DB_PATH is empty']);
    const external = settings.DB_URL !== undefined;
    const config = loadConfig(external ? ['credentials', 'table'] : ['credentials'], settings);
    return { ...config, dataFolder: resolve(directory, dataFolder) };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const source = `the environment or from a file .env in ${directory}`;
    const text = `${cause.message} Settings come from ${source}; unset one to use its default.`;
    throw new StartError(text, { cause });
  }
}

/** @returns the names of the secrets that have the default, which everybody knows */
export function findKnownSecrets({ signingSecret, credentials }: LocalConfig): readonly string[] {
  const secrets = { SECRET_TOKEN: signingSecret, AUTH_PASSWORD: credentials.password };
  return Object.entries(secrets).flatMap(([name, secret]) => (localDefaults[name] === secret ? name : []));
}
