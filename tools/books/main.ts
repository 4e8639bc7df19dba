import { readCommandLine } from '../../serverless/command-line.ts';
import type { Format } from './book-file.ts';
import { type Columns, type FieldName, fieldNames } from './columns.ts';
import { scanRecord } from './csv.ts';
import { CommandError, UsageError } from './errors.ts';
import { exportBooks } from './export-books.ts';
import { importBooks } from './import-books.ts';

const usage = `Usage: npm run -s books -- import FILE [options]
       npm run -s books -- export [FILE] [options]

import creates a book for each row of a CSV file with a header, or of an NDJSON file; - is standard input. Called again
after an interruption, it continues. export writes all books in the order of their ids, to standard output without FILE
or for -.

  --base-url URL       where the service is (http://127.0.0.1:8080); may end in a path, such as the stage of an API Gateway
  --username U         or the environment variable BOOKS_USERNAME; for a service on this machine: admin
  --password P         or, better, the environment variable BOOKS_PASSWORD: others may see what a command is called with
  --format csv|ndjson  instead of what FILE ends in (.csv, .tsv; .ndjson, .jsonl) or begins with
  --give-up-after S    end when something has not succeeded for this many seconds (120)
  --help               show this text

Of import:
  --dry-run            check every row and send nothing; needs no service
  --columns LIST       which columns to take, as in --columns title="Book Title",year=Published
  --without LIST       the fields that the file does not have, as in --without author,year
  --separator S        comma, semicolon, tab or another character, instead of what the header suggests
  --encoding E         utf-8, utf-16le, windows-1252 or another, instead of what the bytes suggest
  --rejected PATH      the rejected rows, with the reasons, to be corrected and imported (FILE.rejected.csv or .ndjson)
  --parallel N         requests in flight, 1 to 256 (16); only 1 keeps the order of the rows
  --batch NAME         create rows again that were imported in the last 7 days, once for each name
  --checkpoint PATH    how far the import has come, until it is done (FILE.checkpoint)
  --yes                go on with an import that began more than 7 days ago, although books may be created twice

Exit code: 0 when all rows are books or all books are in the file, 1 when the command could not go on, 2 for wrong usage,
3 when rows were rejected, 130 after Ctrl-C.`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const service = { username: text, password: text, 'base-url': { ...text, default: 'http://127.0.0.1:8080' } };
const reading = { format: text, columns: text, without: text, separator: text, encoding: text };
const files = { rejected: text, checkpoint: text, batch: { ...text, default: '' } };
const flags = { 'dry-run': flag, yes: flag };
const numbers = { parallel: { ...text, default: '16' }, 'give-up-after': { ...text, default: '120' } };
const options = { ...service, ...reading, ...files, ...flags, ...numbers };

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'there is no',
  EACCES: 'this user must not read or write',
  EISDIR: 'not a file but a folder:',
  ENOSPC: 'no space is left for',
};

const separatorNames: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' };

// npm starts a script in the folder of package.json.
process.chdir(process.env.INIT_CWD ?? '.');

/** The first signal waits for the responses of requests in flight, the second ends the process. */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const { values, positionals } = readCommandLine(usage, options, true);
process.exitCode = await run().catch((error: NodeJS.ErrnoException) => {
  const isUsageError = error instanceof UsageError;
  const reason = fileErrors[`${error.code}`];
  // Reading a folder fails without its path.
  const fileError =
    reason && `${reason} ${error.path ?? (error.code === 'EISDIR' ? positionals[1] : 'a file')}`;
  if (!(stop.signal.aborted || isUsageError || fileError || error instanceof CommandError)) throw error;
  const text = fileError || error.message;
  console.error(stop.signal.aborted ? 'Interrupted; an import continues when it is called again' : text);
  return stop.signal.aborted ? 130 : isUsageError ? 2 : 1;
});

/** @returns the exit code */
async function run(): Promise<number> {
  const [name, path, ...others] = positionals;
  check('FILE', others.join(' '), others.length === 0);
  const named = /\.(ndjson|jsonl)$/i.test(path ?? '') ? 'ndjson' : 'csv';
  const format = values.format as Format | undefined;
  check('--format', format, format === undefined || format === 'csv' || format === 'ndjson');
  if (name === 'export') {
    await exportBooks(
      { path: path === '-' ? undefined : path, format: format ?? named, ...readAccess() },
      stop.signal,
    );
    return 0;
  }
  if (name !== 'import' || path === undefined)
    throw new UsageError('import FILE or export? --help shows more');
  const separator = values.separator && (separatorNames[values.separator] ?? values.separator);
  check('--separator', separator, separator === undefined || /^[!#-~\t ]$/.test(separator));
  const encoding = values.encoding?.toLowerCase();
  check('--encoding', encoding, /^(utf-8|utf-16[lb]e|windows-1252|latin1)?$/.test(encoding ?? ''));
  const { batch, 'dry-run': dryRun, yes } = values;
  const rejectedPath = values.rejected;
  check('--rejected', rejectedPath, rejectedPath !== path);
  const checkpointPath = values.checkpoint ?? (path === '-' ? '' : `${path}.checkpoint`);
  const columns = readColumns(values.columns);
  const without = (values.without?.split(',') ?? []).map(readField);
  const parallel = readNumber('--parallel', values.parallel, 1, 256);
  const how = { path, format, columns, without, separator, encoding, parallel, batch, dryRun, yes };
  return (await importBooks({ ...how, rejectedPath, checkpointPath, ...readAccess() }, stop.signal)) > 0
    ? 3
    : 0;
}

function readAccess() {
  const baseUrl = values['base-url'].replace(/\/$/, '');
  const { protocol, hostname = '' } = URL.parse(baseUrl) ?? {};
  check('--base-url', baseUrl, protocol === 'http:' || protocol === 'https:');
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  const username = values.username ?? process.env.BOOKS_USERNAME ?? (isLocal ? 'admin' : '');
  const password = values.password ?? process.env.BOOKS_PASSWORD ?? (isLocal ? 'password' : '');
  if (username === '' || password === '')
    throw new UsageError('BOOKS_USERNAME and BOOKS_PASSWORD are needed');
  const giveUpAfterMs = readNumber('--give-up-after', values['give-up-after'], 0, 86_400) * 1000;
  return { baseUrl, username, password, giveUpAfterMs };
}

/** A name with a comma is quoted with its field, as in CSV. */
function readColumns(list = ''): Columns {
  const items = list === '' ? [] : (scanRecord(list, 0, { separator: ',' }, true)?.cells ?? []);
  return Object.fromEntries(
    items.map((item) => [readField(item.split('=')[0]), item.replace(/^[^=]*=?/, '')]),
  );
}

function readField(text = ''): FieldName {
  const field = fieldNames.find((name) => name.toLowerCase() === text.trim().toLowerCase());
  check('a field', text, field !== undefined);
  return field;
}

function readNumber(option: string, text: string, least: number, most: number): number {
  check(option, text, /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most);
  return Number(text);
}

function check(option: string, text: string | undefined, isValid: boolean): asserts isValid {
  if (!isValid) throw new UsageError(`${option} cannot be ${text}; --help shows what it can be`);
}
