import { extname } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from './errors.ts';
import type { Format } from './row.ts';

/** Whom to ask, and how long. */
interface Access {
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  readonly giveUpAfterMs: number;
}

/** `import FILE` */
export interface ImportCommand extends Access {
  readonly name: 'import';
  readonly path: string;
  readonly format: Format;
  readonly journalPath: string;
  readonly reportPath: string;
  readonly parallel: number;
  readonly settleMs: number;
  readonly dryRun: boolean;
}

/** `export [FILE]` */
export interface ExportCommand extends Access {
  readonly name: 'export';
  /** Absent for standard output. */
  readonly path: string | undefined;
  readonly format: Format;
}

/** How to call the command. */
export const usage = `Usage: npm run books -- import FILE --base-url URL [options]
       npm run books -- export [FILE] --base-url URL [options]

import creates a book for each row of a file. Called again after an interruption, it continues where it was.
export writes all books in the order of their ids, to standard output without FILE.

Files are CSV with a header (title, author, year in any case and order) or NDJSON, UTF-8.

  --base-url URL         where the service is; may end in a path, such as the stage of an API Gateway
  --username U           or the environment variable BOOKS_USERNAME
  --password P           or, better, the environment variable BOOKS_PASSWORD: others may see what a command is called with
  --format csv|ndjson    instead of what FILE ends in (.csv; .ndjson, .jsonl)
  --give-up-after S      end when something has not succeeded for so many seconds (120)
  --help                 show this text

Of import:
  --dry-run              check every row and send nothing; needs no URL and no password
  --parallel N           requests in flight, 1 to 256 (16)
  --journal PATH         what was done; needed to continue (FILE.journal)
  --report PATH          rejected rows with line and reason, as CSV (FILE.rejected.csv)
  --settle S             seconds that the service may go on with a request whose answer was lost (30)

Exit code: 0 when all rows are books or all books are in the file, 1 when the command could not go on, 2 for wrong usage,
3 when rows were rejected, 130 after Ctrl-C.`;

/** DynamoDB takes about 1,000 creates a second (CONTRIBUTING.md), which needs no more than this in flight. */
const maxParallel = 256;

const formats: Readonly<Record<string, Format>> = { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' };

/**
 * Reads the arguments of the command.
 *
 * @param args - the arguments after the script
 * @param environment - may hold the credentials
 * @returns what to do, or `undefined` when help was asked for
 * @throws {UsageError} when something is missing, unknown or malformed
 */
export function readCommandLine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): ImportCommand | ExportCommand | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [name, path, ...others] = positionals;
  if (others.length > 0) throw new UsageError(`one file at a time; what is ${others[0]}?`);
  const access = {
    baseUrl: values['base-url'] ?? '',
    username: values.username ?? environment.BOOKS_USERNAME ?? '',
    password: values.password ?? environment.BOOKS_PASSWORD ?? '',
    giveUpAfterMs: readNumber(values, 'give-up-after', 0, 86_400) * 1000,
  };
  const dryRun = values['dry-run'] === true;
  if (name === 'export') {
    if (dryRun) throw new UsageError('--dry-run is for import');
    requireAccess(access);
    return { name, path, ...access, format: readFormat(values.format, path ?? '-.csv') };
  }
  if (name !== 'import') {
    throw new UsageError(name === undefined ? 'import or export?' : `there is no command ${name}`);
  }
  if (path === undefined) throw new UsageError('import needs a file');
  if (!dryRun) requireAccess(access);
  return {
    name,
    path,
    ...access,
    format: readFormat(values.format, path),
    journalPath: values.journal ?? `${path}.journal`,
    reportPath: values.report ?? `${path}.rejected.csv`,
    parallel: readNumber(values, 'parallel', 1, maxParallel),
    settleMs: readNumber(values, 'settle', 0, 3600) * 1000,
    dryRun,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'base-url': { type: 'string' },
        username: { type: 'string' },
        password: { type: 'string' },
        format: { type: 'string' },
        'give-up-after': { type: 'string', default: '120' },
        'dry-run': { type: 'boolean' },
        parallel: { type: 'string', default: '16' },
        journal: { type: 'string' },
        report: { type: 'string' },
        settle: { type: 'string', default: '30' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function requireAccess({ baseUrl, username, password }: Access): void {
  if (baseUrl === '') throw new UsageError('--base-url is needed');
  const protocol = URL.parse(baseUrl)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new UsageError(`${baseUrl} is not a URL with http:// or https://`);
  }
  if (username === '' || password === '') {
    throw new UsageError('BOOKS_USERNAME and BOOKS_PASSWORD, or --username and --password, are needed');
  }
}

function readFormat(asked: string | undefined, path: string): Format {
  if (asked === 'csv' || asked === 'ndjson') return asked;
  if (asked !== undefined) throw new UsageError(`--format is csv or ndjson, not ${asked}`);
  const format = formats[extname(path).toLowerCase()];
  if (format === undefined)
    throw new UsageError(`--format is needed, as ${path} does not end in .csv or .ndjson`);
  return format;
}

function readNumber(
  values: Readonly<Record<string, unknown>>,
  option: string,
  least: number,
  most: number,
): number {
  const text = String(values[option]);
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`--${option} is a whole number from ${least} to ${most}, not ${text}`);
}
