import fc from 'fast-check';
import { anyText } from '../../conformance/any-text.ts';
import { type BookFields, bookFields } from '../../lib/books/book.ts';
import type { Bounds, Kind } from '../../lib/fields.ts';

/** Makes the fields of a book: the given ones, and the defaults of all others. */
export function aBook(fields: Partial<BookFields> = {}): BookFields {
  const defaults = Object.entries(bookFields).map(([name, field]) => [name, field.default]);
  return { ...Object.fromEntries(defaults), ...fields };
}

/** Draws a value of each kind of field. */
const anyValueOf = {
  string: () => anyText,
  integer: ({ minimum, maximum }: Bounds) => fc.integer({ min: minimum, max: maximum }),
  boolean: () => fc.boolean(),
} satisfies Record<Kind, unknown>;

/** Draws a value of each field. */
export const anyFieldValues = Object.fromEntries(
  Object.entries(bookFields).map(([name, field]) => [name, anyValueOf[field.type](field as never)]),
) as { readonly [Name in keyof BookFields]: fc.Arbitrary<BookFields[Name]> };
