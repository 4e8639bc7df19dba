import type { BookFields } from '../../lib/books/book.ts';
import { isIntegerLiteral, readJsonObject } from '../../lib/http/json-body.ts';

/** The columns that are read, in the order in which they are written. */
export const fieldNames = ['title', 'author', 'year'] as const;

/** Of a value that is no year. */
const maxShownLength = 30;

type FieldName = (typeof fieldNames)[number];

/** Why a row cannot become a book. */
export class RowError extends Error {
  override readonly name = 'RowError';
}

/**
 * Reads a line of NDJSON by the rules of POST /book (SPEC.md section 4): a missing member is the zero value of its type,
 * others are ignored.
 *
 * @param text - the line
 * @throws {RowError} when it cannot be parsed into the fields of a book
 */
export function parseJsonFields(text: string): BookFields {
  const value = readJsonObject({ body: text, isBase64Encoded: false });
  if (value === undefined) throw new RowError('is not a JSON object');
  const { title = '', author = '', year = 0 } = value;
  return {
    title: requireText(title, 'title'),
    author: requireText(author, 'author'),
    year: requireYear(year),
  };
}

/**
 * Reads the cells of a CSV record. A missing column is the zero value of its type, and so is an empty cell, as CSV has
 * no other way to leave a field out.
 *
 * @param cells - the cells by the name of their column
 * @throws {RowError} when they are not the fields of a book
 */
export function parseCells(cells: Readonly<Partial<Record<FieldName, string>>>): BookFields {
  const { title = '', author = '' } = cells;
  const year = cells.year?.trim() || '0';
  return { title, author, year: requireYear(isIntegerLiteral(year) ? Number(year) : year) };
}

function requireText(value: unknown, name: FieldName): string {
  if (typeof value !== 'string') throw new RowError(`${name} is not a string`);
  if (!(typeof value === 'string' && value.isWellFormed()))
    throw new RowError(`${name} has half of a surrogate pair`);
  return value;
}

function requireYear(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new RowError(`year is not a whole number: ${JSON.stringify(value).slice(0, maxShownLength)}`);
  }
  if (!Number.isSafeInteger(value)) throw new RowError('year is beyond 2^53-1');
  return value;
}
