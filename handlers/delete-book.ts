import { loadConfig, tokenSettings } from '../lib/config.ts';
import { BookRepository } from '../lib/dynamodb/books/book-repository.ts';
import { openTable } from '../lib/dynamodb/table/table.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { readBookId } from '../lib/http/book-path.ts';
import { readIfMatch } from '../lib/http/entity-tag.ts';

const config = loadConfig([...tokenSettings, 'table']);
const books = new BookRepository(await openTable(config.table));
const success = { status: 200, message: 'Book deleted successfully' };

/** DELETE /book/{id} */
export const handler = protectedEndpoint(config, success, async (event) => {
  await books.delete(readBookId(event), readIfMatch(event));
  return {};
});
