import { parsePageQuery } from '../lib/books/parse-page-query.ts';
import { loadConfig } from '../lib/config.ts';
import { openBookList } from '../lib/dynamodb/open-book-repository.ts';
import { HttpError } from '../lib/http/http-error.ts';
import { linkToNext } from '../lib/http/link.ts';
import { outcomes } from '../lib/http/outcomes.ts';
import { streamingEndpoint } from '../lib/streaming-endpoint.ts';

const config = loadConfig(['table']);
const list = await openBookList(config.table);

/** GET /books */
export const handler = streamingEndpoint(config, outcomes.booksRetrieved, async (event) => {
  const query = parsePageQuery(event.queryStringParameters);
  if (query === undefined) throw new HttpError(outcomes.invalidInput);
  if (query.limit === undefined) return { data: list.readAll() };
  const { books, continueAfter } = await list.readPage(query.after, query.limit);
  if (continueAfter === undefined) return { data: books };
  return { data: books, headers: linkToNext(event, { limit: query.limit, after: continueAfter }) };
});
