import { bookFields } from '../lib/books/book.ts';
import { loadConfig, tokenSettings } from '../lib/config.ts';
import { BookRepository } from '../lib/dynamodb/books/book-repository.ts';
import { openTable } from '../lib/dynamodb/table/table.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { readBookId } from '../lib/http/book-path.ts';
import { entityTagHeader, readIfMatch } from '../lib/http/entity-tag.ts';
import { readGivenFields } from '../lib/http/json-body.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const config = loadConfig([...tokenSettings, 'table']);
const books = new BookRepository(await openTable(config.table));
const success = { status: 200, message: 'Book updated successfully' };

/** PUT /book/{id} */
export const handler = protectedEndpoint(config, success, async (event) => {
  const id = readBookId(event);
  const changes = await readGivenFields(event, bookFields, outcomes.invalidInput).catch(async (refusal) => {
    // A missing book comes before an invalid body (specification 9.1).
    await books.get(id);
    throw refusal;
  });
  const { book, version } = await books.update(id, changes, readIfMatch(event));
  return { data: book, headers: entityTagHeader(version) };
});
