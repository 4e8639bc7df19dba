import { parseUnsignedInteger } from '../http/unsigned-integer.ts';
import { BookNotFoundError } from './errors.ts';

/**
 * Reads the `{id}` of a path. Ids start at 1, and whatever is no canonical decimal unsigned integer names no book.
 *
 * @param text - the path parameter as API Gateway passes it on, already percent-decoded
 * @returns the id
 * @throws {BookNotFoundError} when no book can have this id
 */
export function parseBookId(text: string | undefined): number {
  const id = parseUnsignedInteger(text);
  if (!id) throw new BookNotFoundError();
  return id;
}
