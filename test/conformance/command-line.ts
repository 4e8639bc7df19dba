import { parseArgs } from 'node:util';
import { conformanceCases, groupNames } from './suite.ts';

/** What the command was asked to do. */
export interface CommandLine {
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  readonly secret?: string | undefined;
  readonly hostHeader?: string | undefined;
  readonly corsOrigin?: string | undefined;
  readonly without?: readonly string[] | undefined;
}

/** How to call the command. */
export const usage = `Usage: npm run conformance -- --base-url URL --username U --password P [options]

Asks a running service for every rule of its specification, over HTTP. It makes and deletes books of its own.

  --base-url URL      where the service is; may end in a path, such as the stage of an API Gateway
  --username U        the configured username
  --password P        the configured password (write --password=P when it starts with a dash)
  --secret S          the service's SECRET_TOKEN: also test tokens that only its owner can sign
  --host-header H     send this Host instead of that of the URL
  --cors-origin O     the service's CORS_ORIGIN, when it has one
  --without NAME      leave out a group, or a case by its whole name; may be repeated
  --help              show this text

Groups: ${groupNames.join(', ')}
Exit code: 0 when all cases passed, 1 when not or when the service cannot be used, 2 for wrong usage.`;

/** The command was called in a way that it does not know. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Reads the arguments of the command.
 *
 * @param args - the arguments after the script
 * @returns what to do, or `undefined` when help was asked for
 * @throws {UsageError} when something is missing, unknown or malformed
 */
export function readCommandLine(args: readonly string[]): CommandLine | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const { 'base-url': baseUrl, username, password, secret, 'host-header': hostHeader } = values;
  if (baseUrl === undefined || username === undefined || password === undefined) {
    throw new UsageError('--base-url, --username and --password are needed');
  }
  const protocol = URL.parse(baseUrl)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new UsageError(`${baseUrl} is not a URL with http:// or https://`);
  }
  const unknown = values.without?.find((name) => !isName(name));
  if (unknown !== undefined) throw new UsageError(`there is no group or case ${unknown}`);
  const { 'cors-origin': corsOrigin, without } = values;
  return { baseUrl, username, password, secret, hostHeader, corsOrigin, without };
}

function isName(name: string): boolean {
  return (
    groupNames.includes(name) || conformanceCases.some((conformanceCase) => conformanceCase.name === name)
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'base-url': { type: 'string' },
        username: { type: 'string' },
        password: { type: 'string' },
        secret: { type: 'string' },
        'host-header': { type: 'string' },
        'cors-origin': { type: 'string' },
        without: { type: 'string', multiple: true },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
