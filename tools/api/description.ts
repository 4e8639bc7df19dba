import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { loginFields } from '../../lib/auth/credentials.ts';
import { bookFields } from '../../lib/books/book.ts';
import { type Fields, isValueOf, type Kind } from '../../lib/fields.ts';
import { urlParameters } from '../../lib/http/url-parameters.ts';
import { describeFailures } from './failures.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The description of a field of each kind. */
const kindTexts: Readonly<Record<Kind, string>> = {
  string: 'Any text that UTF-8 can carry',
  integer: 'A whole number',
  boolean: 'True or false',
};

const loginTexts = { username: 'The configured username', password: 'The configured password' };

/** Many generators take an integer without a format for one of 32 bits. */
const maxInt32 = 2 ** 31 - 1;

export const descriptionFile = resolve(import.meta.dirname, '../../openapi.yaml');

/**
 * Reads openapi.yaml and writes its generated part anew.
 *
 * @returns the text as it is, and as it should be
 * @throws an Error when the comments that enclose the generated part are missing, or a field does not allow its default
 */
export async function readDescription(): Promise<{ readonly text: string; readonly current: string }> {
  const text = await readFile(descriptionFile, 'utf8');
  const generatedPart = /^ +# <generated>\n.*^ +# <\/generated>\n/ms;
  if (!generatedPart.test(text)) throw new Error('openapi.yaml has no comments <generated> and </generated>');
  const write = (value: object) => stringify(value, { lineWidth: 120, aliasDuplicateObjects: false });
  const others = write({ examples: describeExamples(), responses: describeFailures() });
  const components = indent(indent(write(describeSchemas())) + others);
  const lines = indent(indent(`# <generated>\n`)) + components + indent(indent(`# </generated>\n`));
  return { text, current: text.replace(generatedPart, () => lines) };
}

function indent(lines: string): string {
  return lines.replace(/^(?=.)/gm, '  ');
}

/** The schemas that come from the tables with which the service validates. */
function describeSchemas(): Readonly<Record<string, Schema>> {
  const newBook = describeFields(bookFields);
  // A default stands for a member that is left out; in a change there is none, and in a response all are there.
  const stored = Object.fromEntries(Object.entries(newBook).map(([name, { default: _, ...schema }]) => [name, schema]));
  return {
    Login: { type: 'object', properties: describeFields(loginFields, loginTexts) },
    BookInput: { description: 'The fields of a new book', type: 'object', properties: newBook },
    BookChanges: { description: 'The fields to change', type: 'object', properties: stored },
    Book: {
      description: 'A stored book',
      type: 'object',
      properties: { id: { $ref: '#/components/schemas/BookId' }, ...stored },
      required: ['id', ...Object.keys(bookFields)],
    },
    BookId: { description: 'Given by the service, ascending, never used twice', ...withFormat(urlParameters.id) },
    Limit: withFormat(urlParameters.limit),
    After: withFormat(urlParameters.after),
  };
}

function describeFields(table: Fields, texts: Readonly<Record<string, string>> = {}): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(table).map(([name, field]) => {
      if (!isValueOf(field, field.default))
        throw new Error(`the default of ${name} is out of its bounds: ${field.default}`);
      return [name, { description: texts[name] ?? kindTexts[field.type], ...withFormat(field) }];
    }),
  );
}

function withFormat({ type, ...rest }: { readonly type: string; readonly maximum?: number }): Schema {
  return (rest.maximum ?? 0) > maxInt32 ? { type, format: 'int64', ...rest } : { type, ...rest };
}

/** The examples of openapi.yaml that hold a book, and so each of its fields. */
function describeExamples(): Readonly<Record<string, { readonly value: object }>> {
  const defaults = Object.fromEntries(Object.entries(bookFields).map(([name, field]) => [name, field.default]));
  const dune = { id: 1, ...defaults, title: 'Dune', author: 'Frank Herbert', year: 1965 };
  const emma = { id: 2, ...defaults, title: 'Emma' };
  const example = (status: number, message: string, data: object) => ({ value: { status, message, data } });
  return {
    bookCreated: example(201, 'Book created successfully', dune),
    bookRetrieved: example(200, 'Book retrieved successfully', dune),
    bookUpdated: example(200, 'Book updated successfully', { ...dune, year: 1966 }),
    booksRetrieved: example(200, 'Books retrieved successfully', [dune, emma]),
  };
}
