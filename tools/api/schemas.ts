import { loginFields } from '../../lib/auth/credentials.ts';
import { bookFields } from '../../lib/books/book.ts';
import type { Fields } from '../../lib/http/json-body.ts';
import { urlParameters } from '../../lib/http/url-parameters.ts';

type Schema = Readonly<Record<string, unknown>>;

const fieldTexts = {
  title: 'Any text that UTF-8 can carry',
  author: 'Any text that UTF-8 can carry',
  year: 'A whole number; -(2^53-1) to 2^53-1',
};

const loginTexts = { username: 'The configured username', password: 'The configured password' };

const bookId = { description: 'Given by the service, ascending, never used twice', ...urlParameters.id };

/** The part of openapi.yaml's `components.schemas` that comes from the tables which the service validates with. */
export function describeSchemas(): Readonly<Record<string, Schema>> {
  const newBook = describeFields(bookFields, fieldTexts);
  const stored = withoutDefaults(newBook);
  return {
    Login: { type: 'object', properties: describeFields(loginFields, loginTexts) },
    NewBook: { description: 'The fields of a new book', type: 'object', properties: newBook },
    BookChanges: { description: 'The fields to change', type: 'object', properties: stored },
    Book: {
      description: 'A stored book',
      type: 'object',
      properties: { id: { $ref: '#/components/schemas/BookId' }, ...stored },
      required: ['id', ...Object.keys(bookFields)],
      additionalProperties: false,
    },
    BookId: bookId,
    Limit: urlParameters.limit,
    After: urlParameters.after,
  };
}

function describeFields<Table extends Fields>(
  table: Table,
  texts: Readonly<Record<keyof Table, string>>,
): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(table).map(([name, field]) => [name, { description: texts[name], ...field }]),
  );
}

/** A default stands for a member that is left out; in a change there is none, and in an answer all are there. */
function withoutDefaults(properties: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { default: _, ...schema }]) => [name, schema]),
  );
}
