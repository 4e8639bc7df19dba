import { type EncodedBody, type Fields, readFields } from '../http/json-body.ts';
import type { BookFields } from './book.ts';

/** The members of a book's body (specification 6.1). POST /book stores the default of one that is left out. */
export const bookFields = {
  title: { type: 'string', default: '' },
  author: { type: 'string', default: '' },
  year: {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  },
} as const satisfies Fields;

const zeroBook: BookFields = {
  title: bookFields.title.default,
  author: bookFields.author.default,
  year: bookFields.year.default,
};

/**
 * Reads the body of PUT /book/{id}: any of `title`, `author` and `year`. Other members, `id` among them, are left out.
 *
 * @param encoded - the request body
 * @returns the fields that the body holds, or `undefined` when it cannot be parsed into them
 */
export function parseBookChanges(encoded: EncodedBody): Partial<BookFields> | undefined {
  return readFields(encoded, bookFields);
}

/**
 * Reads the body of POST /book. A missing field gets the zero value of its type (`""`, `0`).
 *
 * @param encoded - the request body
 * @returns the fields of the new book, or `undefined` when the body cannot be parsed into them
 */
export function parseNewBook(encoded: EncodedBody): BookFields | undefined {
  const changes = parseBookChanges(encoded);
  return changes && { ...zeroBook, ...changes };
}
