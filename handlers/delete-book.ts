import { parseBookId } from '../lib/books/book-id.ts';
import { loadConfig } from '../lib/config.ts';
import { openBookRepository } from '../lib/dynamodb/open-book-repository.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { readIfMatch } from '../lib/http/entity-tag.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const config = loadConfig(['table']);
const books = await openBookRepository(config.table);

/** DELETE /book/{id} */
export const handler = protectedEndpoint(config, outcomes.bookDeleted, async (event) => {
  await books.delete(parseBookId(event.pathParameters?.id), readIfMatch(event));
  return { data: null };
});
