import type { BookFields } from '../../lib/books/book.ts';

/** A file format that the tool reads and writes. */
export type Format = 'csv' | 'ndjson';

/** A row that can become a book. */
export interface ValidRow {
  /** The line of the file that the row begins on, from 1. It also names the row in the journal. */
  readonly line: number;
  readonly book: BookFields;
}

/** A row that cannot. */
export interface RejectedRow {
  readonly line: number;
  readonly reason: string;
  /** The row as it is in the file; bytes that are not UTF-8 are replaced. */
  readonly record: string;
}

/** A row of the file, in its order. */
export type Row = ValidRow | RejectedRow;
