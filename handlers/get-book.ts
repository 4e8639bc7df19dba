import { loadConfig, tokenSettings } from '../lib/config.ts';
import { BookRepository } from '../lib/dynamodb/books/book-repository.ts';
import { openTable } from '../lib/dynamodb/table/table.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { readBookId } from '../lib/http/book-path.ts';
import { entityTagHeader, hasCurrentVersion } from '../lib/http/entity-tag.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const config = loadConfig([...tokenSettings, 'table']);
const books = new BookRepository(await openTable(config.table));
const success = { status: 200, message: 'Book retrieved successfully' };

/**
 * A client's cache may keep the book, and asks each time whether it has changed (specification 8.3). The header is not
 * `no-cache`, because undici's cache would then keep nothing.
 */
const caching = { 'Cache-Control': 'private, max-age=0, must-revalidate' };

/** GET /book/{id} */
export const handler = protectedEndpoint(config, success, async (event) => {
  const { book, version } = await books.get(readBookId(event));
  const headers = { ...entityTagHeader(version), ...caching };
  if (hasCurrentVersion(event, version)) return { outcome: outcomes.notModified, headers };
  return { data: book, headers };
});
