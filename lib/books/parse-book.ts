import { type EncodedBody, readJsonObject } from '../http/json-body.ts';
import { isText } from '../http/well-formed-text.ts';
import type { BookFields } from './book.ts';

/** Stored for a field that POST /book leaves out: the zero value of its type. */
const zeroBook: BookFields = { title: '', author: '', year: 0 };

/**
 * Reads the body of PUT /book/{id}: any of `title`, `author` and `year`. Other members, `id` among them, are left out.
 *
 * @param encoded - the request body
 * @returns the fields that the body holds, or `undefined` when it cannot be parsed into them
 */
export function parseBookChanges(encoded: EncodedBody): Partial<BookFields> | undefined {
  const body = readJsonObject(encoded);
  if (body === undefined) return undefined;
  const changes: { title?: string; author?: string; year?: number } = {};
  if (Object.hasOwn(body, 'title')) {
    if (!isText(body.title)) return undefined;
    changes.title = body.title;
  }
  if (Object.hasOwn(body, 'author')) {
    if (!isText(body.author)) return undefined;
    changes.author = body.author;
  }
  if (Object.hasOwn(body, 'year')) {
    if (!Number.isSafeInteger(body.year)) return undefined;
    changes.year = body.year as number;
  }
  return changes;
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
