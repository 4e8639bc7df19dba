import { parse } from 'csv-parse/sync';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import type { Format } from './book-file.ts';
import { type Columns, type FieldName, fieldNames } from './columns.ts';
import { CommandError } from './errors.ts';
import { exportBooks } from './export-books.ts';
import { type ImportCommand, importBooks } from './import-books.ts';
import { report } from './report.ts';

const usage = `Usage: npm run -s books -- import FILE [options]
       npm run -s books -- export [FILE] [options]

import creates a book for each row of a CSV file with a header, or of an NDJSON file; - is standard input. It checks all
rows before it sends the first one. Called again with the same file, it creates nothing twice. export writes all books in
the order of their ids, to standard output without FILE or for -; a file that was there before becomes FILE~.

  --base-url URL       where the service is (http://127.0.0.1:8080); may end in a path, such as the stage of an API Gateway
  --username U         or the environment variable BOOKS_USERNAME; for a service on this machine: admin
  --password P         or, better, the environment variable BOOKS_PASSWORD: others may see what a command is called with
  --format csv|ndjson  instead of what FILE ends in (.csv, .tsv; .ndjson, .jsonl) or begins with
  --give-up-after S    end when something has not succeeded for this many seconds (120)
  --help               show this text

Of import:
  --dry-run            check every row and send nothing; needs no service
  --encoding E         utf-8 (the default), windows-1252 (Latin-1), utf-16le or another that TextDecoder knows
  --separator S        comma, semicolon, tab or another character, instead of the one that gives the header most columns
  --columns LIST       columns with other names than their fields, as in --columns title="Book Title",year=Published
  --without LIST       fields that the file does not have, as in --without author,year; needed only if columns of the
                       file are no fields, one of which might be the missing one
  --from-line N        leave out the rows before this line, which an interrupted import has named
  --parallel N         requests in flight, 1 to 256 (32); only 1 keeps the order of the rows
  --batch NAME         create rows again that were imported before, once for each name

Of export:
  --spreadsheet        put ' before texts of CSV that a spreadsheet would take for formulas; an import would keep it

Exit code: 0 when all rows are books or all books are in the file, 1 when the command could not go on, 2 for wrong usage,
3 when rows were rejected, 130 after Ctrl-C.`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const service = { username: text, password: text, 'base-url': { ...text, default: 'http://127.0.0.1:8080' } };
const reading = { format: text, columns: text, without: text, separator: text };
const texts = { encoding: { ...text, default: 'utf-8' }, batch: { ...text, default: '' } };
const flags = { 'dry-run': flag, spreadsheet: flag };
const numbers = {
  'from-line': { ...text, default: '1' },
  parallel: { ...text, default: '32' },
  'give-up-after': { ...text, default: '120' },
};
const options = { ...service, ...reading, ...texts, ...flags, ...numbers };

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
check('FILE', others.join(' '), others.length === 0);
try {
  if (command === 'export') await exportBooks(readExport(), stop.signal);
  else if ((await importBooks(readImport(), stop.signal)) > 0) process.exitCode = 3;
} catch (error) {
  const { syscall, message } = error as NodeJS.ErrnoException;
  // Those of files have a sentence that says what is wrong.
  if (!(stop.signal.aborted || error instanceof CommandError || syscall)) throw error;
  report(stop.signal.aborted ? 'Interrupted' : message);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}

function readExport() {
  const byName = /\.(ndjson|jsonl)$/i.test(path ?? '') ? 'ndjson' : 'csv';
  return {
    path: path === '-' ? undefined : path,
    format: readFormat() ?? byName,
    forSpreadsheet: values.spreadsheet,
    ...readAccess(),
  } as const;
}

function readImport(): ImportCommand {
  if (command !== 'import' || path === undefined) return endWithAdvice('import FILE or export?');
  const separator = values.separator && (separators[values.separator] ?? values.separator);
  check('--separator', separator, separator === undefined || /^[!#-~\t ]$/.test(separator));
  return {
    path,
    format: readFormat(),
    columns: readColumns(values.columns),
    without: (values.without?.split(',') ?? []).map(readField),
    separator,
    encoding: readEncoding(values.encoding),
    fromLine: readNumber('--from-line', values['from-line'], 1, Number.MAX_SAFE_INTEGER),
    parallel: readNumber('--parallel', values.parallel, 1, 256),
    batch: values.batch,
    dryRun: values['dry-run'],
    ...readAccess(),
  };
}

function readAccess() {
  const baseUrl = values['base-url'].replace(/\/$/, '');
  const { protocol, hostname = '' } = URL.parse(baseUrl) ?? {};
  check('--base-url', baseUrl, protocol === 'http:' || protocol === 'https:');
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  const username = values.username ?? process.env.BOOKS_USERNAME ?? (isLocal ? 'admin' : '');
  const password = values.password ?? process.env.BOOKS_PASSWORD ?? (isLocal ? 'password' : '');
  if (username === '' || password === '') endWithAdvice('BOOKS_USERNAME and BOOKS_PASSWORD are needed.');
  const giveUpAfterMs = readNumber('--give-up-after', values['give-up-after'], 0, 86_400) * 1000;
  return { baseUrl, username, password, giveUpAfterMs };
}

function readFormat(): Format | undefined {
  const { format } = values;
  check('--format', format, format === undefined || format === 'csv' || format === 'ndjson');
  return format;
}

/** @returns the standard name of an encoding, such as `windows-1252` for `latin1` */
function readEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return endWithAdvice(`--encoding cannot be ${label}.`);
  }
}

/** A name with a comma is quoted with its field, as in CSV: `"author=Last name, first name"`. */
function readColumns(list = ''): Columns {
  const [items = []] = readCsv(list);
  return Object.fromEntries(items.map((item) => [readField(item.split('=')[0]), item.replace(/^[^=]*=?/, '')]));
}

function readCsv(list: string): string[][] {
  try {
    return parse(list);
  } catch {
    return endWithAdvice(`--columns cannot be ${list}.`);
  }
}

function readField(name = ''): FieldName {
  const field = fieldNames.find((known) => known.toLowerCase() === name.trim().toLowerCase());
  check('a field', name, field !== undefined);
  return field;
}

function readNumber(option: string, value: string, least: number, most: number): number {
  check(option, value, /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most);
  return Number(value);
}

function check(option: string, value: string | undefined, isValid: boolean): asserts isValid {
  if (!isValid) endWithAdvice(`${option} cannot be ${value}.`);
}
