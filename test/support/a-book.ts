import fc from 'fast-check';
import { aBook as aDescribedBook } from '../../conformance/a-book.ts';
import { type BookFields, bookFields } from '../../lib/books/book.ts';
import { type Field, isValueOf, type Kind, type Schema } from '../../lib/fields.ts';
import { anyText } from './any-text.ts';

/** Like the one of the conformance suite, which does not know the type in lib/. */
export const aBook = (fields: Partial<BookFields> = {}) => aDescribedBook(fields) as BookFields;

/** Draws a value of each kind of field. */
const anyValueOf: Readonly<Record<Kind, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  string: ({ maxLength }) => anyText.map((text) => (maxLength === undefined ? text : cutOff(text, maxLength))),
  // The list has a faster way for numbers of up to 15 digits, and that is where the tests should go.
  integer: ({ minimum: min = -(10 ** 15) + 1, maximum: max = 10 ** 15 - 1 }) => fc.integer({ min, max }),
  boolean: () => fc.boolean(),
};

const cutOff = (text: string, maxLength: number) => [...text].slice(0, maxLength).join('');

/** Draws a value of each field. For one that a limit refuses, it is the default. */
export const anyFieldValues = Object.fromEntries(
  Object.entries(bookFields).map(([name, field]: [string, Field & Schema]) => [
    name,
    field.enum
      ? fc.constantFrom(...field.enum)
      : anyValueOf[field.type](field).map((value) => (isValueOf(field, value) ? value : field.default)),
  ]),
) as { readonly [Name in keyof BookFields]: fc.Arbitrary<BookFields[Name]> };
