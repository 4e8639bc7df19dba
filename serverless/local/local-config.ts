import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Config, ConfigError, parseSettings } from '../../lib/config.ts';
import { type Environment, type FunctionSetting, settings, text } from '../../lib/settings.ts';
import { StartError } from './start-error.ts';

/**
 * The settings of the local service: those of the functions, and its own. The secrets have defaults here only. Deployed
 * stages have generated ones.
 */
export const localSettings = {
  ...settings,
  signingSecret: { ...settings.signingSecret, default: 'for local development only, never for production' },
  username: { ...settings.username, default: 'admin' },
  password: { ...settings.password, default: 'password' },
  /** The folder of the embedded engine's data, used without `table`. */
  dataFolder: { variable: 'DB_PATH', kind: text, default: '.dynamodb' },
} as const satisfies Readonly<Record<string, FunctionSetting>>;

export interface LocalConfig extends Omit<Config, 'table'>, Partial<Pick<Config, 'table'>> {
  /** As an absolute path. */
  readonly dataFolder: string;
  /** The settings of the functions as their environment. */
  readonly environment: Environment;
}

/**
 * Loads the configuration from the environment, then from the directory's `.env`, then from defaults. An empty variable
 * counts as set. DB_PATH in the environment overrides DB_URL in `.env`.
 *
 * @throws {StartError} when a setting is wrong
 */
export function loadLocalConfig(directory: string, environment: Environment): LocalConfig {
  const dotEnv = readDotEnv(join(directory, '.env'));
  const unset = environment.DB_PATH === undefined ? {} : { DB_URL: undefined };
  const given: Environment = { ...dotEnv, ...unset, ...environment };
  const { table, ...others } = localSettings;
  const read = given.DB_URL === undefined ? others : { ...others, table };
  try {
    const config = parseSettings(read, Object.keys(read) as (keyof typeof others)[], given);
    const ofFunctions = Object.keys(settings).flatMap((name) => {
      const { variable, default: fallback }: FunctionSetting = localSettings[name as keyof typeof settings];
      const value = given[variable] ?? fallback;
      return value === undefined ? [] : [[variable, value]];
    });
    const dataFolder = resolve(directory, config.dataFolder);
    return { ...config, dataFolder, environment: Object.fromEntries(ofFunctions) };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const source = `the environment or from a file .env in ${directory}`;
    const message = `${cause.message} Settings come from ${source}; unset one to use its default.`;
    throw new StartError(message, { cause });
  }
}

/**
 * Reads a file of settings as Node does, none when there is no file.
 *
 * @throws {StartError} when it sets anything else, or is not in UTF-8
 */
function readDotEnv(file: string): Environment {
  if (!existsSync(file)) return {};
  const bytes = readFileSync(file);
  if (!isUtf8(bytes)) throw new StartError(`${file} is not in UTF-8. Save it in that encoding.`);
  // The decoder takes away a byte order mark, which would become a part of the first name.
  const given = parseEnv(new TextDecoder().decode(bytes));
  const names: readonly string[] = Object.values(localSettings).map(({ variable }) => variable);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  // Otherwise a default would silently replace what somebody has misspelled.
  if (unknown.length > 0)
    throw new StartError(
      `${file} sets ${unknown.join(', ')}, which is not a setting. The settings are ${names.join(', ')}.`,
    );
  return given;
}

/** @returns the names of the secrets that have the default, which everybody knows */
export function findKnownSecrets({ environment }: LocalConfig): readonly string[] {
  const secrets = Object.values<FunctionSetting>(localSettings).filter(({ isSecret }) => isSecret);
  const known = secrets.filter((setting) => environment[setting.variable] === setting.default);
  return known.map(({ variable }) => variable);
}
