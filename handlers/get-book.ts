import { loadConfig } from '../lib/config.ts';
import { BookRepository } from '../lib/dynamodb/book-repository.ts';
import { openTable } from '../lib/dynamodb/table.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { entityTagHeader, hasCurrentVersion } from '../lib/http/entity-tag.ts';
import { outcomes } from '../lib/http/outcomes.ts';
import { readBookId } from '../lib/http/url-parameters.ts';
import { initialize } from '../lib/init-phase.ts';

const config = loadConfig(['table']);
const books = new BookRepository(await initialize(openTable(config.table)));

/** GET /book/{id} */
export const handler = protectedEndpoint(config, outcomes.bookRetrieved, async (event) => {
  const { book, version } = await books.get(readBookId(event));
  const headers = entityTagHeader(version);
  if (hasCurrentVersion(event, version)) return { outcome: outcomes.notModified, headers };
  return { data: book, headers };
});
