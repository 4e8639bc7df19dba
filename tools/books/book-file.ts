import { type BookFields, bookFields } from '../../lib/books/book.ts';
import { readJsonObject } from '../../lib/http/json-body.ts';
import * as fields from './columns.ts';
import { type CsvRecord, countLines, findLineEnd, scanRecord } from './csv.ts';
import { detectEncoding, readText } from './encoding.ts';
import { CommandError } from './errors.ts';
import { formatCount } from './progress.ts';

/** A file format that the tool reads and writes. */
export type Format = 'csv' | 'ndjson';

/** Options of the user for what is otherwise detected. */
export interface FileOptions extends fields.ColumnOptions {
  readonly format: Format | undefined;
  readonly encoding: string | undefined;
  readonly separator: string | undefined;
}

/** A file of books, and how to read it. Of CSV, `header` is the first record, and `start` all before the second. */
export type BookFile = Awaited<ReturnType<typeof openFile>>;

/** A row of a file: its first line, its text, and its book or the reason of its rejection. */
export type Row = { readonly line: number; readonly raw: string } & ({ book: BookFields } | { reason: string });

/** The detected separators, the preferred one first. */
export const commonSeparators = [',', ';', '\t'];

/** Above any book: 400 KB, for which JSON may need six times as many characters. */
const maxRecordLength = 4 * 1024 * 1024;

/** The start of a file in which to find the columns. */
const sampleLength = 1024 * 1024;

/** Detects how to read a file. @throws {CommandError} when the columns are ambiguous */
export async function openFile(path: string, options: FileOptions) {
  const encoding = await detectEncoding(path, options.encoding);
  let sample = '';
  for await (const text of readText(path, encoding)) {
    sample += text;
    if (sample.length > sampleLength) break;
  }
  if (sample.trim() === '') throw new CommandError('the file is empty');
  const format = options.format ?? guessFormat(path, sample);
  const found = format === 'csv' ? readHeader(sample, options.separator) : readMembers(sample);
  return { path, encoding, format, ...found, columns: fields.chooseColumns(found.names, options) };
}

/** @returns a report of the used, missing and ignored columns */
export function describeFile({ encoding, format, separator, names, columns }: BookFile): string {
  const lines = fields.fieldNames.map((field) => {
    const { [field]: column } = columns;
    return `  ${field}: ${column === undefined ? 'no column, stored as if it were empty' : fields.quote([column])}`;
  });
  const used: readonly string[] = [...Object.values(columns), fields.reasonColumn];
  const ignored = fields.quote(names.filter((name) => !used.includes(name)));
  const separated = format === 'csv' ? `, separated by ${fields.quote([separator])}` : '';
  return [`Columns (${encoding}${separated}):`, ...lines, `  ignored: ${ignored || 'none'}`].join('\n');
}

/** Reads the rows lazily, so memory does not grow with the file. Blank lines are not rows. */
export async function* readRows(file: BookFile): AsyncGenerator<Row> {
  // A line of tabs alone is a row of empty cells.
  const isBlank = file.format === 'csv' ? /^[\r\n]*$/ : /^\s*$/;
  let skip = file.start.length;
  let text = '';
  let position = 0;
  let line = 1 + countLines(file.start);
  const read = function* (complete: boolean): Generator<Row> {
    while (position < text.length) {
      const isLong = text.length - position > maxRecordLength;
      const record = scanRow(file, text, position, complete || isLong);
      if (record === undefined) return;
      const isCutOff = isLong && !complete && record.end >= text.length;
      if (isCutOff) throw new CommandError(`line ${line} is over 4 MB`);
      const raw = text.slice(position, record.end);
      const book = readBook(file, raw, record);
      if (!isBlank.test(raw)) yield typeof book === 'string' ? { line, raw, reason: book } : { line, raw, book };
      line += countLines(raw);
      position = record.end;
    }
  };
  for await (const chunk of readText(file.path, file.encoding)) {
    text = text.slice(position) + chunk.slice(skip);
    position = 0;
    skip = Math.max(0, skip - chunk.length);
    yield* read(false);
  }
  yield* read(true);
}

function scanRow(file: BookFile, text: string, start: number, complete: boolean): CsvRecord | undefined {
  const { format, separator, names } = file;
  if (format === 'csv') return scanRecord(text, start, { separator, width: names.length }, complete);
  const end = findLineEnd(text, start);
  return end < text.length || complete ? { end } : undefined;
}

/** @returns the reason of its rejection when a row is not a book */
function readBook(file: BookFile, raw: string, { cells, problem }: CsvRecord): BookFields | string {
  const { format, encoding, names, columns } = file;
  if (raw.includes('\ufffd')) return `has bytes that are not ${encoding}, or U+FFFD`;
  const used = Object.entries(columns) as [fields.FieldName, string][];
  if (format === 'ndjson') {
    const value = readJsonObject({ body: raw, isBase64Encoded: false }, Object.values(columns));
    if (value === undefined) return 'is not a JSON object';
    const mistake = fields.findMistake(Object.keys(value), columns);
    if (mistake !== undefined) return mistake;
    return fields.checkBook(Object.fromEntries(used.map(([field, column]) => [field, value[column]])));
  }
  if (cells === undefined) return problem ?? '';
  if (cells.length !== names.length)
    return `has ${formatCount(cells.length, 'cell')} where the header has ${names.length}`;
  const values = used.map(([field, column]) => {
    return [field, fields.parseCell(bookFields[field], cells[names.indexOf(column)] ?? '')] as const;
  });
  return fields.checkBook(Object.fromEntries(values));
}

function guessFormat(path: string, sample: string): Format {
  if (/\.(ndjson|jsonl)$/i.test(path)) return 'ndjson';
  return !/\.(csv|tsv)$/i.test(path) && sample.trimStart().startsWith('{') ? 'ndjson' : 'csv';
}

/** Uses the members of all objects in the sample as columns. Without any, each row is rejected. */
function readMembers(sample: string) {
  const lines = sample.split('\n');
  const objects = lines.map((line) => readJsonObject({ body: line, isBase64Encoded: false }, []) ?? {});
  const members = new Set(objects.flatMap((object) => Object.keys(object)));
  const names: readonly string[] = members.size > 0 ? [...members] : fields.fieldNames;
  return { names, separator: '', header: '', start: '' };
}

/** Uses the separator of the user or of Excel's `sep=` line, or the one that gives the header the most cells. */
function readHeader(sample: string, chosen: string | undefined) {
  const before = /^[\r\n]*(?:"?sep=(?<named>[^"\r\n])"?(?:\r\n|\n|\r))?/i.exec(sample);
  const position = before?.[0].length ?? 0;
  const named = chosen ?? before?.groups?.named;
  const headers = (named ? [named] : commonSeparators).map((separator) => {
    const { end = 0, cells = [] } = scanRecord(sample, position, { separator }, true) ?? {};
    const names = cells.map((cell) => cell.trim());
    return { names, separator, start: sample.slice(0, end), header: sample.slice(position, end) };
  });
  const best = headers.reduce((left, right) => (right.names.length > left.names.length ? right : left));
  if (best.names.length === 0) throw new CommandError('a quote is out of place in the header');
  return best;
}
