import { type BookFields, bookFields } from '../../lib/books/book.ts';
import {
  type ColumnOptions,
  type Columns,
  expectColumns,
  type FieldName,
  fieldNames,
  findColumns,
  findUnclear,
  parseCell,
  quote,
  toBook,
} from './columns.ts';
import { type Dialect, parseHeader, type Quotes, readRecords } from './csv.ts';
import { CommandError } from './errors.ts';
import { readStart, readText } from './file-text.ts';
import { readObjects } from './ndjson.ts';
import { formatCount } from './report.ts';

/** A file format that the tool reads and writes. */
export type Format = 'csv' | 'ndjson';

/** What the user says about a file. What is `undefined` is found out from the file. */
export interface FileOptions extends ColumnOptions {
  readonly encoding: string;
  /** Of CSV: one ASCII character. */
  readonly separator: string | undefined;
  /** Of CSV. */
  readonly quotes: Quotes | undefined;
}

/** A file of books, and how to read it. */
export interface BookFile extends Dialect {
  readonly path: string;
  readonly encoding: string;
  readonly format: Format;
  readonly columns: Columns;
  /** Those that the user named. */
  readonly named: Columns;
  /** The names in the header of CSV. */
  readonly header: readonly string[];
  /** Whether it has ids, which an import ignores. */
  readonly hasIds: boolean;
}

/** A row of a file: the line that it begins on, and its book or the reason of its rejection. */
export type Row = { readonly line: number } & ({ readonly book: BookFields } | { readonly reason: string });

const separators = [',', ';', '\t', '|'];

/** Of NDJSON. */
const noDialect: Dialect = { separator: '', quotes: undefined };

/** How JSON begins that is not NDJSON: an array, or an object that is longer than its first line. */
const jsonOverLines = /^\s*(?:\[\s*[[{\]]|\{\s*[\r\n])/;

/**
 * Finds out how to read a file, from its start.
 *
 * @throws {CommandError} when its columns are not clear, or its start cannot be read
 */
export async function openFile(path: string, options: FileOptions): Promise<BookFile> {
  const { encoding, columns: named } = options;
  const start = await readStart(path, encoding);
  if (jsonOverLines.test(start)) {
    throw new CommandError(`${path} is JSON; NDJSON has one book a line, as from jq -c '.[]'`);
  }
  const [, excelLine] = /^(sep=.)[\r\n]/i.exec(start) ?? [];
  if (excelLine !== undefined) {
    throw new CommandError(`${path} begins with ${quote([excelLine])}, a line for Excel alone: delete it`);
  }
  const expected = expectColumns(options);
  const file = { path, encoding, named };
  if (guessFormat(path, start) === 'ndjson') {
    const hasIds = /^.*"id"\s*:/.test(start) && !Object.values(expected).includes('id');
    return { ...file, format: 'ndjson', columns: expected, header: [], hasIds, ...noDialect };
  }
  const { header, ...dialect } = findDialect(start, options, expected);
  const columns = findColumns(header, expected, named);
  const hasIds = header.some((name) => /^id$/i.test(name) && !Object.values(columns).includes(name));
  return { ...file, format: 'csv', ...dialect, header, hasIds, columns };
}

/** @returns a report of the columns that are used, missing and ignored */
export function describeFile({ encoding, format, separator, quotes, header, columns }: BookFile): string {
  const lines = fieldNames.map((field) => {
    const { [field]: column } = columns;
    return `  ${field}: ${column === undefined ? 'no column, stored as if it were empty' : quote([column])}`;
  });
  const separated = format === 'csv' ? `, separated by ${quote([separator])}` : '';
  const unquoted = quotes === 'text' ? ', unquoted' : '';
  const ignored = header.filter((name) => !Object.values(columns).includes(name));
  if (ignored.length > 0) lines.push(`  ignored: ${quote(ignored)}`);
  return [`Columns (${encoding}${separated}${unquoted}):`, ...lines].join('\n');
}

/**
 * Reads the rows one by one, so memory does not grow with the file. Blank lines are not rows.
 *
 * @throws {CommandError} when it cannot tell where a row ends
 */
export function readRows(file: BookFile): AsyncGenerator<Row> {
  return file.format === 'csv' ? readCsv(file) : readNdjson(file);
}

async function* readCsv(file: BookFile): AsyncGenerator<Row> {
  const { path, encoding, header, columns } = file;
  const used = Object.entries(columns) as [FieldName, string][];
  let isHeader = true;
  for await (const { line, cells } of readRecords(readText(path, encoding), file)) {
    if (!isHeader) yield { line, ...toOutcome(readCells(cells)) };
    isHeader = false;
  }

  function readCells(cells: readonly string[]): BookFields | string {
    if (cells.length !== header.length)
      return `has ${formatCount(cells.length, 'cell')} where the header has ${header.length}`;
    if (cells.every((cell, index) => cell.trim() === header[index])) return 'is the header again';
    const values = used.map(([field, column]) => {
      return [field, parseCell(bookFields[field], cells[header.indexOf(column)] ?? '')] as const;
    });
    return toBook(Object.fromEntries(values));
  }
}

async function* readNdjson({ path, encoding, columns, named }: BookFile): AsyncGenerator<Row> {
  const used = Object.entries(columns) as [FieldName, string][];
  for await (const { line, object } of readObjects(readText(path, encoding))) {
    yield { line, ...toOutcome(object === undefined ? 'is not a JSON object' : readMembers(object)) };
  }

  function readMembers(object: Readonly<Record<string, unknown>>): BookFields | string {
    const unclear = findUnclear(Object.keys(object), columns, named);
    if (unclear.length > 0) {
      return `has no ${quote(unclear.map((field) => `${columns[field]}`))}; --without ${unclear} allows that`;
    }
    return toBook(Object.fromEntries(used.map(([field, name]) => [field, object[name]])));
  }
}

const toOutcome = (book: BookFields | string) => (typeof book === 'string' ? { reason: book } : { book });

function guessFormat(path: string, start: string): Format {
  if (/\.(ndjson|jsonl)$/i.test(path)) return 'ndjson';
  return !/\.(csv|tsv)$/i.test(path) && start.trimStart().startsWith('{') ? 'ndjson' : 'csv';
}

/** Finds the separator with which the header has most of the expected columns, or else most columns. */
function findDialect(start: string, { separator, quotes }: FileOptions, expected: Columns) {
  const names = Object.values(expected).map((name) => name.toLowerCase());
  const countExpected = (header: readonly string[]) =>
    header.filter((name) => names.includes(name.toLowerCase())).length;
  const possible: { separator: string; header: readonly string[] }[] = [];
  const errors: unknown[] = [];
  for (const candidate of separator === undefined ? separators : [separator]) {
    try {
      possible.push({ separator: candidate, header: parseHeader(start, { separator: candidate, quotes }) });
    } catch (error) {
      errors.push(error);
    }
  }
  const [best] = possible.toSorted((left, right) => {
    return countExpected(right.header) - countExpected(left.header) || right.header.length - left.header.length;
  });
  if (best === undefined) throw errors[0];
  return { ...best, quotes: quotes ?? guessQuotes(start, best.separator) };
}

/** Many programs write tabs between cells and never quote them. One that quotes the header quotes cells, too. */
function guessQuotes(start: string, separator: string): Quotes | undefined {
  const isQuoted = () => parseHeader(start, { separator, quotes: 'text' }).some((name) => name.startsWith('"'));
  return separator !== '\t' || isQuoted() ? 'enclosing' : undefined;
}
