import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { loginFields } from '../../lib/auth/credentials.ts';
import { bookFields } from '../../lib/books/book.ts';
import { type Fields, isValueOf, type Kind, type Schema } from '../../lib/fields.ts';
import { urlParameters } from '../../lib/http/url-parameters.ts';

type Described = Readonly<Record<string, unknown>>;

/** The description of a field of each kind that has none of its own. */
const kindTexts: Readonly<Record<Kind, (schema: Schema) => string>> = {
  string: ({ enum: allowed, maxLength }) => {
    if (allowed) return 'One of these texts';
    return maxLength === undefined ? 'Any text that UTF-8 can carry' : `A text of at most ${maxLength} characters`;
  },
  integer: ({ enum: allowed }) => (allowed ? 'One of these numbers' : 'A whole number'),
  boolean: () => 'True or false',
};

/** The description of the parameter that finds books by a field of each kind. */
const filterTexts: Readonly<Record<Kind, (name: string) => string>> = {
  string: (name) => `Only books whose ${name} has each of these words`,
  integer: (name) => `Only books with this ${name}`,
  boolean: (name) => `Only books with this ${name}`,
};

/** Many generators take an integer without a format for one of 32 bits. */
const maxInt32 = 2 ** 31 - 1;

export const descriptionFile = resolve(import.meta.dirname, '../../openapi.yaml');

/**
 * Reads openapi.yaml and writes its generated parts anew.
 *
 * @returns the text as it is, and as it should be
 * @throws an Error when the comments that enclose a generated part are missing, or a field does not allow its default
 */
export async function readDescription(): Promise<{ readonly text: string; readonly current: string }> {
  const text = await readFile(descriptionFile, 'utf8');
  const write = (value: object) => stringify(value, { lineWidth: 120, aliasDuplicateObjects: false });
  const components = indent(write(describeSchemas())) + write({ examples: describeExamples() });
  const parameters = write(describeFilters());
  return { text, current: replacePart(replacePart(text, 'filters', parameters, 4), 'components', components, 1) };
}

/** @param depth - of the part's lines, in steps of two blanks */
function replacePart(text: string, name: string, lines: string, depth: number): string {
  const part = new RegExp(`(?<=^ +# <generated ${name}>\\n).*(?=^ +# </generated ${name}>\\n)`, 'ms');
  if (!part.test(text)) throw new Error(`openapi.yaml has no comments <generated ${name}> and </generated ${name}>`);
  return text.replace(part, () => lines.replace(/^(?=.)/gm, '  '.repeat(depth)));
}

function indent(lines: string): string {
  return lines.replace(/^(?=.)/gm, '  ');
}

/** The schemas that come from the tables with which the service validates. */
function describeSchemas(): Readonly<Record<string, Described>> {
  const newBook = describeFields(bookFields);
  // A default stands for a member that is left out; in a change there is none, and in a response all are there.
  const stored = Object.fromEntries(Object.entries(newBook).map(([name, { default: _, ...schema }]) => [name, schema]));
  return {
    Login: { type: 'object', properties: describeFields(loginFields) },
    BookInput: { description: 'The fields of a new book', type: 'object', properties: newBook },
    BookChanges: { description: 'The fields to change', type: 'object', properties: stored },
    Book: {
      description: 'A stored book',
      type: 'object',
      properties: { id: { $ref: '#/components/schemas/BookId' }, ...stored },
      required: ['id', ...Object.keys(bookFields)],
    },
    BookId: { description: 'Given by the service, ascending, never used twice', ...describeValue(urlParameters.id) },
    Limit: describeValue(urlParameters.limit),
    After: describeValue(urlParameters.after),
  };
}

/** The parameters of a list by which books are found: `q`, and one for each field. */
function describeFilters(): readonly Described[] {
  const describe = (name: string, description: string, schema: Schema) => ({
    name,
    in: 'query',
    description,
    schema: describeValue(schema),
  });
  return [
    describe('q', 'Only books that have each of these words in one of their texts', urlParameters.q),
    ...Object.entries(bookFields).map(([name, { type }]) => describe(name, filterTexts[type](name), { type })),
  ];
}

function describeFields(table: Fields): Readonly<Record<string, Described>> {
  return Object.fromEntries(
    Object.entries(table).map(([name, field]) => {
      const { description = kindTexts[field.type](field), ...schema } = field;
      if (!isValueOf(field, field.default)) throw new Error(`${name} does not allow its default: ${field.default}`);
      return [name, { description, ...describeValue(schema) }];
    }),
  );
}

/** The bounds of an integer without bounds of its own are those of its kind. */
function describeValue({ type, ...limits }: Schema): Described {
  if (type !== 'integer' || limits.enum) return { type, ...limits };
  const bounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...limits };
  return bounds.maximum > maxInt32 ? { type, format: 'int64', ...bounds } : { type, ...bounds };
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
