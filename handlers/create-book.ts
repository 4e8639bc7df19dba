import { bookFields } from '../lib/books/book.ts';
import { loadConfig, tokenSettings } from '../lib/config.ts';
import { BookRepository } from '../lib/dynamodb/books/book-repository.ts';
import { openTable } from '../lib/dynamodb/table/table.ts';
import { protectedEndpoint } from '../lib/endpoint.ts';
import { locationHeader, readCollectionPath } from '../lib/http/book-path.ts';
import { entityTagHeader } from '../lib/http/entity-tag.ts';
import { readIdempotencyKey, replayedHeader } from '../lib/http/idempotency-key.ts';
import { readFields } from '../lib/http/json-body.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const config = loadConfig([...tokenSettings, 'table']);
const books = new BookRepository(await openTable(config.table));
const success = { status: 201, message: 'Book created successfully' };

/** POST /book */
export const handler = protectedEndpoint(config, success, async (event) => {
  const fields = await readFields(event, bookFields, outcomes.invalidInput);
  const key = readIdempotencyKey(event);
  const path = readCollectionPath(event); // Before the book is stored, because another API's event has none.
  const { book, version, replayed } = await books.create(fields, key);
  const headers = { ...locationHeader(path, book.id), ...entityTagHeader(version), ...replayedHeader(replayed) };
  return { data: book, headers };
});
