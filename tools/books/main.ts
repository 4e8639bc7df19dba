import { tmpdir } from 'node:os';
import { getSystemErrorMessage } from 'node:util';
import { parseBaseUrl } from '../client/base-url.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { type Columns, type FieldName, fieldNames } from './columns.ts';
import { CommandError } from './errors.ts';
import { exportBooks } from './export-books.ts';
import { type ImportCommand, importBooks } from './import-books.ts';
import { report } from './report.ts';

const usage = `Usage: npm run -s books -- import FILE [options]
       npm run -s books -- export [FILE] [options]

import creates a book for each row of a CSV file with a header, or for each line of an NDJSON file (.ndjson, .jsonl, or a
file that begins with {). FILE is - for standard input. It checks all rows before it sends the first one. Imported again, the
same file creates nothing twice.

export writes all books in the order of their ids to FILE, or to standard output. It writes NDJSON if FILE ends in .ndjson or
.jsonl, and CSV otherwise. A file that was there before becomes FILE~.

  --base-url URL       where the service is (http://127.0.0.1:8080); may end in a path, such as the stage of an API Gateway
  --username U         or the environment variable BOOKS_USERNAME; for a service on this machine: admin
  --password P         or, better, the environment variable BOOKS_PASSWORD: others may see what a command is called with
  --help               show this text

Of import:
  --dry-run            check every row and send nothing; needs no service
  --encoding E         utf-8 (the default), windows-1252 (Latin-1), utf-16le or another that TextDecoder knows
  --separator S        comma, semicolon, tab or another character, instead of the one that the header shows
  --unquoted           quotation marks are text, as in the tab-separated files of LibraryThing and Google Sheets
  --quoted             quotation marks enclose cells, also in a tab-separated file, as Excel writes it
  --columns LIST       columns with other names than their fields, as in --columns title="Book Title",year=Published. A name
                       may have commas, as in --columns author="Author (last, first)"
  --without LIST       fields that the file does not have, as in --without author,year; needed only if the file has
                       columns of other names, one of which might be the missing field
  --new-ids            each row of a file with ids, such as an export, becomes a new book
  --parallel N         requests in flight, 1 to 256 (32); only 1 keeps the order of the rows

Of export:
  --spreadsheet        begin CSV with a byte order mark, so that Excel reads all letters, and put ' before texts that a
                       spreadsheet would take for formulas. An import would keep the '

Exit code: 0 when everything was imported or exported, 1 when the command could not go on, 2 for wrong usage, 3 when rows
were rejected, 130 after Ctrl-C.`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const service = { username: text, password: text, 'base-url': { ...text, default: 'http://127.0.0.1:8080' } };
const list = { type: 'string', multiple: true, default: [] as string[] } as const;
const reading = { columns: list, without: list, separator: text, encoding: { ...text, default: 'utf-8' } };
const flags = { 'dry-run': flag, 'new-ids': flag, spreadsheet: flag, unquoted: flag, quoted: flag };
const options = { ...service, ...reading, ...flags, parallel: { ...text, default: '32' } };

const separators: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' };

// npm starts a script in the folder of package.json.
process.chdir(process.env.INIT_CWD ?? '.');

/** The first signal waits for the responses of requests in flight, the second ends the process. */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

if (process.env.npm_config_dry_run) {
  endWithAdvice('npm took --dry-run for itself. Write -- before the options: npm run books -- import FILE --dry-run');
}
const { values, positionals } = parseOptions(usage, options, true);
const [command, path, ...others] = positionals;
if (others.length > 0) endWithAdvice('import and export take one FILE at a time.');
try {
  if (command === 'export') await exportBooks(readExport(), stop.signal);
  else if ((await importBooks(readImport(), stop.signal)) > 0) process.exitCode = 3;
} catch (error) {
  const reason = stop.signal.aborted ? 'Interrupted' : findReason(error);
  if (reason === undefined) throw error;
  report(reason);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}

/** @returns `undefined` when the error is a bug */
function findReason(error: unknown): string | undefined {
  if (error instanceof CommandError) return error.message;
  const { syscall, errno, path: named } = error as NodeJS.ErrnoException;
  if (errno === undefined) return undefined;
  const isCopy = command === 'import' && syscall === 'write';
  const place = isCopy ? `a copy of ${path} in ${tmpdir()}` : (named ?? path ?? 'standard output');
  return `cannot ${syscall} ${place}: ${getSystemErrorMessage(errno)}`;
}

function readExport() {
  const [other] = /[^/]*\.(tsv|json|xlsx?)$/i.exec(path ?? '') ?? [];
  if (other !== undefined) endWithAdvice(`export writes CSV or NDJSON, not ${other}.`);
  return {
    path: path === '-' ? undefined : path,
    format: /\.(ndjson|jsonl)$/i.test(path ?? '') ? 'ndjson' : 'csv',
    forSpreadsheet: values.spreadsheet,
    ...readAccess(),
  } as const;
}

function readImport(): ImportCommand {
  if (command !== 'import' || path === undefined)
    return endWithAdvice('Say what to do, as in: npm run books -- import books.csv');
  const separator = values.separator && (separators[values.separator] ?? values.separator);
  check('--separator', separator, separator === undefined || /^[!#-~\t ]$/.test(separator));
  return {
    path,
    columns: readColumns(values.columns),
    without: values.without.flatMap((names) => names.split(',')).map(readField),
    separator,
    quotes: readQuotes(),
    encoding: readEncoding(values.encoding),
    parallel: readParallel(values.parallel),
    dryRun: values['dry-run'],
    takesNewIds: values['new-ids'],
    ...readAccess(),
  };
}

function readAccess() {
  const baseUrl = readBaseUrl();
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(baseUrl).hostname);
  const username = values.username ?? process.env.BOOKS_USERNAME ?? (isLocal ? 'admin' : '');
  const password = values.password ?? process.env.BOOKS_PASSWORD ?? (isLocal ? 'password' : '');
  if (username === '' || password === '') endWithAdvice('BOOKS_USERNAME and BOOKS_PASSWORD are needed.');
  return { baseUrl, username, password };
}

function readBaseUrl(): string {
  try {
    return parseBaseUrl(values['base-url']);
  } catch (error) {
    return endWithAdvice((error as TypeError).message);
  }
}

function readQuotes() {
  if (values.unquoted && values.quoted) return endWithAdvice('Give --unquoted or --quoted, not both.');
  if (values.unquoted) return 'text';
  return values.quoted ? 'enclosing' : undefined;
}

/** @returns the standard name of an encoding, such as `windows-1252` for `latin1` */
function readEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return endWithAdvice(`--encoding cannot be ${label}.`);
  }
}

/** A name may have commas: one separates only before the next `field=`. */
function readColumns(lists: readonly string[]): Columns {
  const items = lists.flatMap((list) => list.split(/,(?=\s*\w+\s*=)/));
  return Object.fromEntries(items.map((item) => [readField(item.split('=')[0]), item.replace(/^[^=]*=?/, '')]));
}

function readField(name = ''): FieldName {
  const field = fieldNames.find((known) => known.toLowerCase() === name.trim().toLowerCase());
  return field ?? endWithAdvice(`${name} is not a field of books: ${fieldNames.join(', ')}.`);
}

function readParallel(value: string): number {
  check('--parallel', value, /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 256);
  return Number(value);
}

function check(option: string, value: string | undefined, isValid: boolean): asserts isValid {
  if (!isValid) endWithAdvice(`${option} cannot be ${value}.`);
}
