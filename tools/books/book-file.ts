import { Readable } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { type BookFields, bookFields } from '../../lib/books/book.ts';
import { readJsonObject } from '../../lib/http/json-body.ts';
import * as fields from './columns.ts';
import { CommandError } from './errors.ts';
import { readText } from './file-text.ts';
import { formatCount } from './report.ts';

/** A file format that the tool reads and writes. */
export type Format = 'csv' | 'ndjson';

/** How the user describes a file. What is `undefined` follows from the file. */
export interface FileOptions extends fields.ColumnOptions {
  readonly format: Format | undefined;
  readonly encoding: string;
  /** Of CSV: one ASCII character. */
  readonly separator: string | undefined;
}

/** A file of books, and how to read it. */
export interface BookFile {
  readonly path: string;
  readonly encoding: string;
  readonly format: Format;
  readonly columns: fields.Columns;
  /** Those that the user named. */
  readonly named: fields.Columns;
  /** Of CSV. */
  readonly separator: string;
  /** The names in the header of CSV. */
  readonly header: readonly string[];
}

/** A row of a file: the line that it begins on, and its book or the reason of its rejection. */
export type Row = { readonly line: number } & ({ readonly book: BookFields } | { readonly reason: string });

/** A record of csv-parse, with its text. */
type RawRecord = { readonly record: string[]; readonly raw: string };

/** A record, and the line that it begins on. */
type LocatedRecord = { readonly line: number; readonly cells: readonly string[] };

const separators = [',', ';', '\t'];

/** Above any book: 400 KB, for which JSON may need six times as many characters. */
const maxRowLength = 4 * 1024 * 1024;

/** RFC 4180, with the line ends of all systems. */
const dialect = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true, // Such a row is rejected alone.
  max_record_size: maxRowLength,
} satisfies Options;

const lineEnd = /\r\n|\n|\r/g;

/**
 * Finds out how to read a file, from its start.
 *
 * @throws {CommandError} when its columns are not clear, or its start cannot be read
 */
export async function openFile(path: string, options: FileOptions): Promise<BookFile> {
  const { encoding, columns: named } = options;
  const start = await readStart(path, encoding);
  const format = options.format ?? guessFormat(path, start);
  const expected = fields.expectColumns(options);
  if (format === 'ndjson') return { path, encoding, format, columns: expected, named, separator: '', header: [] };
  const candidates = options.separator === undefined ? separators : [options.separator];
  const headers = candidates.map((separator) => ({ separator, header: parseHeader(start, separator) }));
  const best = headers.reduce((left, right) => (right.header.length > left.header.length ? right : left));
  return { path, encoding, format, ...best, named, columns: fields.findColumns(best.header, expected, named) };
}

/** @returns a report of the columns that are used, missing and ignored */
export function describeFile({ encoding, format, separator, header, columns }: BookFile): string {
  const lines = fields.fieldNames.map((field) => {
    const { [field]: column } = columns;
    return `  ${field}: ${column === undefined ? 'no column, stored as if it were empty' : fields.quote([column])}`;
  });
  const separated = format === 'csv' ? `, separated by ${fields.quote([separator])}` : '';
  const ignored = header.filter((name) => !Object.values(columns).includes(name));
  if (ignored.length > 0) lines.push(`  ignored: ${fields.quote(ignored)}`);
  return [`Columns (${encoding}${separated}):`, ...lines].join('\n');
}

/**
 * Reads the rows one by one, so memory does not grow with the file. Blank lines are not rows.
 *
 * @throws {CommandError} when no row can be told from the next
 */
export function readRows(file: BookFile): AsyncGenerator<Row> {
  return file.format === 'csv' ? readCsv(file) : readNdjson(file);
}

async function* readCsv(file: BookFile): AsyncGenerator<Row> {
  const { path, encoding, header, separator, columns } = file;
  const used = Object.entries(columns) as [fields.FieldName, string][];
  let nextLine = 1;
  // Called for each record before the error of a later one is thrown. csv-parse would count a quoted CR LF as two lines.
  const addLine = ({ record, raw }: RawRecord): LocatedRecord | null => {
    const line = nextLine;
    nextLine += countLineEnds(raw);
    // Without text it is a blank line, which csv-parse then leaves out.
    return /[^\r\n]/.test(raw) ? { line, cells: record } : null;
  };
  const parser = parse({ ...dialect, delimiter: separator, raw: true, on_record: addLine as never });
  const text = Readable.from(readText(path, encoding));
  text.once('error', (error) => parser.destroy(error)).pipe(parser);
  let isHeader = true;
  try {
    for await (const { line, cells } of parser as AsyncIterable<LocatedRecord>) {
      if (!isHeader) yield { line, ...toOutcome(readCells(cells)) };
      isHeader = false;
    }
  } catch (error) {
    throw describeCsvError(error, nextLine);
  } finally {
    text.destroy();
  }

  function readCells(cells: readonly string[]): BookFields | string {
    if (cells.length !== header.length)
      return `has ${formatCount(cells.length, 'cell')} where the header has ${header.length}`;
    const values = used.map(([field, column]) => {
      return [field, fields.parseCell(bookFields[field], cells[header.indexOf(column)] ?? '')] as const;
    });
    return fields.toBook(Object.fromEntries(values));
  }
}

async function* readNdjson({ path, encoding, columns, named }: BookFile): AsyncGenerator<Row> {
  const used = Object.entries(columns) as [fields.FieldName, string][];
  let line = 0;
  for await (const text of readLines(readText(path, encoding))) {
    line += 1;
    if (text.length > maxRowLength) throw new CommandError(`line ${line} is over 4 MB`);
    if (text.trim() !== '') yield { line, ...toOutcome(readObject(text)) };
  }

  function readObject(text: string): BookFields | string {
    const value = readJsonObject({ body: text, isBase64Encoded: false }, Object.values(columns));
    if (value === undefined) return 'is not a JSON object';
    const unclear = fields.findUnclear(Object.keys(value), columns, named);
    if (unclear) return `has no ${fields.quote([columns[unclear] ?? ''])}; --without ${unclear} allows that`;
    return fields.toBook(Object.fromEntries(used.map(([field, name]) => [field, value[name]])));
  }
}

/** Splits at line feeds alone: JSON may have other line ends in its texts. */
async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > maxRowLength) break;
  }
  yield rest;
}

const toOutcome = (book: BookFields | string) => (typeof book === 'string' ? { reason: book } : { book });

const countLineEnds = (text: string) => text.match(lineEnd)?.length ?? 0;

/** Reads until the first line that is not blank is complete. */
async function readStart(path: string, encoding: string): Promise<string> {
  let start = '';
  for await (const text of readText(path, encoding)) {
    start = (start + text).replace(/^[\r\n]+/, '');
    if (/[\r\n]/.test(start) || start.length > maxRowLength) break;
  }
  if (start.trim() === '') throw new CommandError(`${path} is empty`);
  return start;
}

function guessFormat(path: string, start: string): Format {
  if (/\.(ndjson|jsonl)$/i.test(path)) return 'ndjson';
  return !/\.(csv|tsv)$/i.test(path) && start.trimStart().startsWith('{') ? 'ndjson' : 'csv';
}

function parseHeader(start: string, separator: string): string[] {
  try {
    const [header = []] = parseText(start, { ...dialect, delimiter: separator, to: 1 }) as string[][];
    return header.map((name) => name.trim());
  } catch (error) {
    throw describeCsvError(error, 1);
  }
}

/** @param line - on which the faulty row begins */
function describeCsvError(error: unknown, line: number): unknown {
  const problem = problems[(error as Partial<CsvError>).code ?? ''];
  return problem === undefined ? error : new CommandError(`line ${line}: ${problem}`);
}

const neverClosed = 'a quotation mark is never closed';
const outOfPlace = 'a quotation mark is out of place: a cell that has one is in quotation marks, and has it doubled';

const problems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: neverClosed,
  CSV_MAX_RECORD_SIZE: `${neverClosed}, or the row is over 4 MB`,
  CSV_INVALID_CLOSING_QUOTE: outOfPlace,
  INVALID_OPENING_QUOTE: outOfPlace,
};
