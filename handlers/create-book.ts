import { parseNewBook } from '../lib/books/parse-book.ts';
import { loadConfig } from '../lib/config.ts';
import { openBookRepository } from '../lib/dynamodb/open-book-repository.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { HttpError } from '../lib/http/http-error.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const { signingSecret, table } = loadConfig(['signingSecret', 'table']);
const books = await openBookRepository(table);

/** POST /book */
export const handler = protectedEndpoint(signingSecret, outcomes.bookCreated, async (event) => {
  const fields = parseNewBook(event);
  if (fields === undefined) throw new HttpError(outcomes.invalidInput);
  return books.create(fields);
});
