import { parseBookId } from '../lib/books/book-id.ts';
import { loadConfig } from '../lib/config.ts';
import { openBookRepository } from '../lib/dynamodb/open-book-repository.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const { signingSecret, table } = loadConfig(['signingSecret', 'table']);
const books = await openBookRepository(table);

/** GET /book/{id} */
export const handler = protectedEndpoint(signingSecret, outcomes.bookRetrieved, async (event) =>
  books.get(parseBookId(event.pathParameters?.id)),
);
