import { bookFields } from '../lib/books/book.ts';
import { loadConfig, tokenSettings } from '../lib/config.ts';
import { BookList } from '../lib/dynamodb/books/book-list.ts';
import { openTable } from '../lib/dynamodb/table/table.ts';
import { linkHeader, readListQuery } from '../lib/http/list-query.ts';
import { protectedStreamingEndpoint } from '../lib/streaming-endpoint.ts';

const config = loadConfig([...tokenSettings, 'table']);
const list = new BookList(await openTable(config.table));
const success = {
  status: 200,
  message: 'Books retrieved successfully',
  headers: { 'Cache-Control': 'no-store' },
};

/** GET /books */
export const handler = protectedStreamingEndpoint(config, success, async (event) => {
  const { limit, ...selection } = readListQuery(event, bookFields);
  if (limit === undefined) return { data: list.readAll(selection) };
  const { books, continueAfter } = await list.readPage(selection, limit);
  if (continueAfter === undefined) return { data: [books] };
  return { data: [books], headers: linkHeader(limit, continueAfter, selection.filter) };
});
