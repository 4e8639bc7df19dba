import { BookNotFoundError } from './errors.ts';

/** Decimal digits without sign and leading zero; 16 digits hold every safe integer. */
const canonicalUnsignedInteger = /^[1-9][0-9]{0,15}$/;

/**
 * Reads the `{id}` of a path. Ids start at 1, so that whatever is not a canonical decimal unsigned integer up to
 * 2^53-1 (`abc`, `0`, `-1`, `01`, `1e3`) names no book.
 *
 * @param text - the path parameter as API Gateway hands it over, already percent-decoded
 * @returns the id
 * @throws {BookNotFoundError} when no book can have this id
 */
export function parseBookId(text: string | undefined): number {
  const id = text !== undefined && canonicalUnsignedInteger.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new BookNotFoundError();
  return id;
}
