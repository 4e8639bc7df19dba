import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { CommandError } from './errors.ts';
import { fieldNames, parseCells } from './parse-fields.ts';
import type { Row } from './row.ts';

/** A quote that is never closed is found here instead of at the end of a large file. */
const maxRecordBytes = 10 * 1024 * 1024;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** What csv-parse gives for a record with `raw`. */
interface CsvRecord {
  readonly record: readonly string[];
  readonly raw: string;
}

/**
 * Reads CSV (RFC 4180) whose first record names the columns, in any case and order. Columns that are no fields of a
 * book are ignored, blank lines passed over.
 *
 * @param pieces - the bytes of the file
 * @throws {CommandError} when the header has none of the columns or one of them twice, or when a quote is out of place:
 *   where the next record begins is then a guess
 */
export async function* readCsv(pieces: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let header: readonly string[] | undefined;
  let nextLine = 1;
  try {
    for await (const { record, raw } of parseRecords(pieces)) {
      const line = nextLine + countLines(/^[\r\n]*/.exec(raw)?.[0] ?? '');
      nextLine += countLines(raw);
      if (header === undefined) header = readHeader(record);
      else yield readRecord(line, record, raw, header);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CommandError(describe(error, nextLine), { cause: error });
  }
}

function parseRecords(pieces: AsyncIterable<Buffer>): AsyncIterable<CsvRecord> {
  return Readable.from(pieces).compose(
    parse({
      // Each byte as one character, so that a record that is not UTF-8 is noticed and not silently altered.
      encoding: 'latin1',
      record_delimiter: ['\r\n', '\n', '\r'],
      max_record_size: maxRecordBytes,
      raw: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }),
  );
}

function readHeader(record: readonly string[]): readonly string[] {
  const header = record.map((name) => decode(name, lenientUtf8).trim().toLowerCase());
  const present = header.filter((name) => (fieldNames as readonly string[]).includes(name));
  if (present.length === 0) {
    throw new CommandError(
      `the first line has to name the columns, at least one of ${fieldNames.join(', ')}`,
    );
  }
  const twice = present.find((name, index) => present.indexOf(name) < index);
  if (twice !== undefined) throw new CommandError(`the first line names the column ${twice} twice`);
  return header;
}

function readRecord(line: number, cells: readonly string[], raw: string, header: readonly string[]): Row {
  try {
    if (cells.length !== header.length) {
      throw new Error(`has ${cells.length} cells where the header has ${header.length}`);
    }
    const texts = cells.map((cell) => decode(cell, strictUtf8));
    return { line, book: parseCells(Object.fromEntries(header.map((name, index) => [name, texts[index]]))) };
  } catch (error) {
    const reason = error instanceof TypeError ? 'is not UTF-8' : (error as Error).message;
    return { line, reason, record: decode(raw, lenientUtf8).replace(/^[\r\n]+|[\r\n]+$/g, '') };
  }
}

function decode(latin1: string, decoder: typeof strictUtf8): string {
  return decoder.decode(Buffer.from(latin1, 'latin1'));
}

/** csv-parse keeps one character of a CR LF between records, both of one inside quotes. */
function countLines(raw: string): number {
  return raw.match(/\r\n|\n|\r/g)?.length ?? 0;
}

function describe({ code }: CsvError, line: number): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `a quote is never closed in the record after line ${line - 1}`;
    case 'CSV_MAX_RECORD_SIZE':
      return `the record after line ${line - 1} is longer than 10 MB; is a quote never closed?`;
    default:
      return `a quote is out of place in the record after line ${line - 1}`;
  }
}
