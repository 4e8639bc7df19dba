import { parseArgs } from 'node:util';

/** What the command was asked to do. */
export interface LoadOptions {
  readonly seconds: number;
  /** Absent for a local service that the command starts itself. */
  readonly service?: { readonly baseUrl: string; readonly username: string; readonly password: string };
}

/** The command was called in a way that it does not know. */
export class UsageError extends Error {}

const defaultSeconds = 300;

/** How to call the command. */
export const usage = `Usage: npm run load -- [options]

Sends 50 requests at a time (80 % get, 10 % list page, 6 % update, 3 % create, 1 % delete) and checks every answer.

  --seconds N         how long; ${defaultSeconds} by default
  --base-url URL      a running service; by default a local one is started, with a database of its own
  --username U        the running service's username
  --password P        the running service's password
  --help              show this text

Exit code: 0 when every answer was right, 1 when not or when the service cannot be used, 2 for wrong usage.`;

/**
 * Reads the arguments of the command.
 *
 * @param args - the arguments after the script
 * @returns what to do, or `undefined` when help was asked for
 * @throws {UsageError} when something is missing, unknown or malformed
 */
export function readLoadOptions(args: readonly string[]): LoadOptions | undefined {
  const { help, seconds: secondsText, 'base-url': baseUrl, username, password } = parse(args);
  if (help) return undefined;
  const seconds = Number(secondsText ?? defaultSeconds);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw new UsageError(`--seconds ${secondsText} is no number of seconds`);
  if (baseUrl === undefined) return { seconds };
  if (!URL.canParse(baseUrl)) throw new UsageError(`${baseUrl} is not a URL`);
  if (username === undefined || password === undefined) {
    throw new UsageError('--base-url needs --username and --password');
  }
  return { seconds, service: { baseUrl, username, password } };
}

function parse(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    const options = {
      seconds: text,
      'base-url': text,
      username: text,
      password: text,
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
