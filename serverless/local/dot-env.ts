import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { findSimilarName } from '../similar-name.ts';
import { StartError } from './start-error.ts';

/** The names that a `.env` may set. */
const settings = ['SECRET_TOKEN', 'AUTH_USERNAME', 'AUTH_PASSWORD', 'DB_URL', 'DB_PATH', 'CORS_ORIGIN'];

/** An unquoted value that goes on after a `#`, where a comment begins for Node. */
const cutValue = /^[ \t]*(?:export[ \t]+)?([A-Z_]+)[ \t]*=[ \t]*[^\s'"`#][^\n#]*(?<!\s)#/gm;

/**
 * Reads a file of settings.
 *
 * @returns nothing when there is none
 * @throws {StartError} when it cannot be read, cuts a value off, or has a name that looks like a setting
 */
export function readDotEnv(file: string): Readonly<Record<string, string | undefined>> {
  let text: string;
  try {
    // Windows begins files with a byte order mark.
    text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new StartError(`${file} cannot be read: ${message}. Make it a readable file, or remove it.`, { cause });
  }
  const values = parseEnv(text);
  const problems = [...text.matchAll(cutValue)]
    .filter(([, name = '']) => settings.includes(name))
    .map(([, name]) => `put the value of ${name} in single quotes, because # begins a comment`);
  for (const name of Object.keys(values)) {
    const similar = settings.includes(name) ? undefined : findSimilarName(name, settings);
    if (similar !== undefined) problems.push(`${name} is not a setting (did you mean ${similar}?)`);
    if (name === 'LOG_FORMAT') problems.push('LOG_FORMAT counts in the environment only');
  }
  if (problems.length > 0) throw new StartError(`${file} cannot be used: ${problems.join('; ')}.`);
  return values;
}
