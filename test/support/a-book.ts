import fc from 'fast-check';
import { anyText } from '../../conformance/any-text.ts';
import { type BookFields, bookFields } from '../../lib/books/book.ts';

/** Makes the fields of a book: the given ones, and the defaults of all others. */
export function aBook(fields: Partial<BookFields> = {}): BookFields {
  const defaults = Object.entries(bookFields).map(([name, field]) => [name, field.default]);
  return { ...Object.fromEntries(defaults), ...fields };
}

/** Draws a value of each field. */
export const anyFieldValues = Object.fromEntries(
  Object.entries(bookFields).map(([name, field]) => [
    name,
    field.type === 'string' ? anyText : fc.integer({ min: field.minimum, max: field.maximum }),
  ]),
) as { readonly [Name in keyof BookFields]: fc.Arbitrary<BookFields[Name]> };
