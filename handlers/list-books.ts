import { openBookRepository } from '../lib/books/open-book-repository.ts';
import { loadConfig } from '../lib/config.ts';
import { protectedEndpoint } from '../lib/http/endpoint.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const { signingSecret, table } = loadConfig(['signingSecret', 'table']);
const books = await openBookRepository(table);

/** GET /books */
export const handler = protectedEndpoint(signingSecret, outcomes.booksRetrieved, async () =>
  Array.fromAsync(books.list()),
);
