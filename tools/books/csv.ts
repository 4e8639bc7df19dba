import { Readable } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { CommandError } from './errors.ts';
import { maxRowLength } from './file-text.ts';

/** Quotation marks enclose cells (RFC 4180), or they are text like any other character. */
export type Quotes = 'enclosing' | 'text';

/** How the cells of a file are told apart. */
export interface Dialect {
  /** One ASCII character. */
  readonly separator: string;
  /** `undefined` when only the user can tell. */
  readonly quotes: Quotes | undefined;
}

/** A record, and the line that it begins on. */
export type LocatedRecord = { readonly line: number; readonly cells: readonly string[] };

/** A record of csv-parse, with its text. */
type RawRecord = { readonly record: string[]; readonly raw: string };

const lineEnd = /\r\n|\n|\r/g;

/**
 * Reads the names of the columns.
 *
 * @param start - of the file, with the whole header
 * @throws {CommandError} when the header does not have this dialect
 */
export function parseHeader(start: string, dialect: Dialect): string[] {
  try {
    const [header = []] = parseText(start, { ...toOptions(dialect), skip_records_with_empty_values: true, to: 1 });
    return header.map((name) => name.trim());
  } catch (error) {
    throw describeError(error, 1, dialect);
  }
}

/**
 * Reads the records one by one, the header among them. Blank lines are not records, nor are rows of empty cells, which
 * spreadsheets write below a table.
 *
 * @throws {CommandError} with the line, when the cells of a record cannot be told apart
 */
export async function* readRecords(chunks: AsyncIterable<string>, dialect: Dialect): AsyncGenerator<LocatedRecord> {
  const { separator, quotes } = dialect;
  let nextLine = 1;
  // csv-parse would count a quoted CR LF as two lines. It calls this before it throws the error of a later record.
  const addLine = ({ record, raw }: RawRecord): LocatedRecord | null => {
    const line = nextLine;
    nextLine += raw.match(lineEnd)?.length ?? 0;
    if (quotes === undefined && `${separator}${raw}`.includes(`${separator}"`)) {
      throw new CommandError(`line ${line}: ${unclearQuotes}`);
    }
    // csv-parse leaves out a record that is null.
    return record.some((cell) => cell.trim() !== '') ? { line, cells: record } : null;
  };
  const parser = parse({ ...toOptions(dialect), raw: true, on_record: addLine as never });
  const text = Readable.from(chunks);
  text.once('error', (error) => parser.destroy(error)).pipe(parser);
  try {
    yield* parser as AsyncIterable<LocatedRecord>;
  } catch (error) {
    throw describeError(error, nextLine, dialect);
  } finally {
    text.destroy();
  }
}

function toOptions({ separator, quotes }: Dialect): Options {
  return {
    delimiter: separator,
    quote: quotes === 'text' ? false : '"',
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true, // Such a row is rejected alone.
    max_record_size: maxRowLength,
  };
}

/** @param line - on which the faulty row begins */
function describeError(error: unknown, line: number, { separator, quotes }: Dialect): unknown {
  const problem = problems[(error as Partial<CsvError>).code ?? ''];
  if (problem === undefined) return error;
  // With other separators, --unquoted would more often store marks that enclose cells than mend the file.
  const advice = separator === '\t' && quotes === undefined ? '; add --unquoted if quotation marks are text' : '';
  return new CommandError(`line ${line}: ${problem}${advice}`);
}

const neverClosed = 'a quotation mark is never closed';
const outOfPlace = 'a quotation mark is out of place: enclose the cell in quotation marks, and double each one in it';

const unclearQuotes =
  'quotation marks are text in some tab-separated files, and enclose cells in others; add --unquoted or --quoted';

const problems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: neverClosed,
  CSV_MAX_RECORD_SIZE: `${neverClosed}, or the row is over 4 MB`,
  CSV_INVALID_CLOSING_QUOTE: outOfPlace,
  INVALID_OPENING_QUOTE: outOfPlace,
};
