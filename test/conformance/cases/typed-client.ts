import {
  type BookCatalogClient,
  createBookCatalogClient,
} from '../../../tools/client/book-catalog-client.ts';
import { defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectEqual } from '../expectation.ts';

const reference = 'specification 8.1, 8.2';

/** The client that others are given, generated from openapi.yaml: it has to get on with every deployment. */
export const typedClientCases = defineCases('typed-client', [
  {
    name: 'The typed client creates, reads, lists, changes and deletes a book',
    reference,
    run: async (context) => {
      const client = createClient(context);
      const body = { title: 'Solaris', author: 'Stanisław Lem', year: 1961 };
      const { data: created } = await client.POST('/book', { body });
      const id = created?.data.id ?? Number.NaN;
      expectEqual('created', created, {
        status: 201,
        message: 'Book created successfully',
        data: { id, ...body },
      });
      const params = { path: { id } };
      const { data: read } = await client.GET('/book/{id}', { params });
      expectEqual('read', read?.data, { id, ...body });
      const { data: page } = await client.GET('/books', { params: { query: { limit: 1, after: id - 1 } } });
      expectEqual('listed', page?.data, [{ id, ...body }]);
      const { data: changed } = await client.PUT('/book/{id}', { params, body: { year: 1960 } });
      expectEqual('changed', changed?.data, { id, ...body, year: 1960 });
      const { data: deleted } = await client.DELETE('/book/{id}', { params });
      expectEqual('deleted', deleted, { status: 200, message: 'Book deleted successfully', data: null });
    },
  },
  {
    name: 'The typed client gives the envelope of an error',
    reference,
    run: async (context) => {
      const params = { path: { id: Number.MAX_SAFE_INTEGER } };
      const { data, error } = await createClient(context).GET('/book/{id}', { params });
      expectEqual('data', data, undefined);
      expectEqual('error', error, { status: 404, message: 'Book not found', data: null });
    },
  },
]);

/** The requests go the way of all others, so that books are cleaned up and answers are checked. */
function createClient(context: ConformanceContext): BookCatalogClient {
  return createBookCatalogClient({
    baseUrl: 'http://service.invalid',
    ...context.credentials,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const body = Buffer.from(await request.arrayBuffer());
      const { method } = request;
      const answer = await (pathname === '/token'
        ? context.logIn(body, headers)
        : context.send({ method, path: pathname + search, headers, ...(body.length > 0 && { body }) }));
      const sentBack = new Headers({ 'Content-Type': answer.headers['content-type'] ?? '' });
      return new Response(new Uint8Array(answer.body), { status: answer.status, headers: sentBack });
    },
  });
}
