import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from '../../lib/settings.ts';
import { StartError } from './start-error.ts';

const assignment = /^\s*(?:export\s+)?(?<name>[A-Za-z_]\w*)\s*=(?<value>.*)$/;
const quotedValue = /(?<==[ \t]*)(['"`])(?:(?!\1).)*\1/gs;

/**
 * Reads a file of settings. A line that is neither a setting nor a comment is an error. Otherwise a default would
 * silently replace what somebody has written.
 *
 * @param names - those of all settings
 * @returns the settings, none when there is no file
 * @throws {StartError} when it cannot be read, with the numbers of the lines that set nothing
 */
export function readDotEnv(file: string, names: readonly string[]): Environment {
  let text: string;
  try {
    // Windows begins files with a byte order mark.
    text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new StartError(`${file} cannot be read: ${message}. Make it a readable file, or remove it.`, { cause });
  }
  // A quoted value may have several lines. Its text is not checked, and its line breaks stay for the line numbers.
  const withoutTexts = text.replaceAll(quotedValue, (value) => value.replaceAll(/[^\n]/g, ''));
  const problems = withoutTexts.split(/\r?\n/).flatMap((line, index) => {
    const problem = findProblem(line, names);
    return problem === undefined ? [] : `line ${index + 1} ${problem}`;
  });
  if (problems.length > 0) throw new StartError(`${file} cannot be used: ${problems.join('; ')}.`);
  return parseEnv(text);
}

function findProblem(line: string, names: readonly string[]): string | undefined {
  if (/^\s*(#|$)/.test(line)) return undefined;
  const { name, value = '' } = assignment.exec(line)?.groups ?? {};
  if (name === undefined) return 'is not NAME=value';
  if (!names.includes(name)) return `sets ${name}, which is none of ${names.join(', ')}`;
  // Node ends an unquoted value at a #.
  if (/[^\s#]#/.test(value)) return 'has a # in its value, which begins a comment without quotes around the value';
  return undefined;
}
