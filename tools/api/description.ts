import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { loginFields } from '../../lib/auth/credentials.ts';
import { bookFields } from '../../lib/books/book.ts';
import type { Fields } from '../../lib/fields.ts';
import { urlParameters } from '../../lib/http/url-parameters.ts';

type Schema = Readonly<Record<string, unknown>>;

const fieldTexts = {
  title: 'Any text that UTF-8 can carry',
  author: 'Any text that UTF-8 can carry',
  year: 'A whole number; -(2^53-1) to 2^53-1',
};

const loginTexts = { username: 'The configured username', password: 'The configured password' };

const bookId = { description: 'Given by the service, ascending, never used twice', ...urlParameters.id };

/**
 * Reads openapi.yaml and writes its generated part anew.
 *
 * @returns the text as it is, and as it should be
 * @throws an Error when the comments that enclose the generated part are missing
 */
export async function readDescription(): Promise<{ readonly text: string; readonly current: string }> {
  const text = await readFile(resolve(import.meta.dirname, '../../openapi.yaml'), 'utf8');
  const generatedPart = /^(?<indent> +)# <generated>\n.*^ +# <\/generated>\n/ms;
  const indent = generatedPart.exec(text)?.groups?.indent;
  if (indent === undefined) throw new Error('openapi.yaml has no comments <generated> and </generated>');
  const schemas = stringify(describeSchemas(), { lineWidth: 120, aliasDuplicateObjects: false });
  const lines = `# <generated>\n${schemas}# </generated>\n`.replace(/^(?=.)/gm, indent);
  return { text, current: text.replace(generatedPart, () => lines) };
}

/** The part of openapi.yaml's `components.schemas` that comes from the tables which the service validates with. */
function describeSchemas(): Readonly<Record<string, Schema>> {
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

/** A default stands for a member that is left out; in a change there is none, and in a response all are there. */
function withoutDefaults(properties: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { default: _, ...schema }]) => [name, schema]),
  );
}
