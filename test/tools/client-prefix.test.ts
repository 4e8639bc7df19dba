import { createServer, request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { createBookCatalogClient } from '../../tools/client/book-catalog-client.ts';
import { defaultCredentials } from '../support/local-service.ts';
import { close, listen } from '../support/loopback-server.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService(defaultCredentials);

/**
 * Forwards what is below `/api/` without that prefix, as `location /api/ { proxy_pass http://service/; }` of nginx does. It
 * weakens entity tags, as nginx does when it compresses.
 */
const proxy = createServer((incoming, outgoing) => {
  const { method, url = '', headers } = incoming;
  if (!url.startsWith('/api/')) return outgoing.writeHead(404).end();
  const forwarded = request(local.baseUrl + url.slice('/api'.length), { method, headers }, (response) => {
    const { etag, ...others } = response.headers;
    outgoing.writeHead(response.statusCode ?? 502, { ...others, ...(etag && { etag: `W/${etag}` }) });
    response.pipe(outgoing);
  });
  return incoming.pipe(forwarded.on('error', () => outgoing.destroy()));
});
const baseUrl = `http://127.0.0.1:${await listen(proxy)}/api`;
afterAll(() => close(proxy));

test('behind a path prefix, the TypeScript client reads all pages, and entity tags hold', async () => {
  const catalog = createBookCatalogClient({ baseUrl, username: 'admin', password: 'password' });
  const { book, etag } = await catalog.createBook({ title: 'Dune' });
  const other = await catalog.createBook({ title: 'Emma' });

  const unchanged = await catalog.getBook(book.id, { ifNoneMatch: etag });
  const updated = await catalog.updateBook(book.id, { year: 1965 }, { ifMatch: etag });
  const listed = await Array.fromAsync(catalog.listBooks({ pageSize: 1, after: book.id - 1 }));

  expect(etag).toMatch(/^W\/".+"$/);
  expect(unchanged).toEqual({ book: undefined, etag });
  expect(updated.book.year).toBe(1965);
  expect(listed).toEqual([updated.book, other.book]);
  await expect(catalog.deleteBook(book.id, { ifMatch: etag })).rejects.toMatchObject({ status: 412 });
  await catalog.deleteBook(book.id, { ifMatch: updated.etag });
});
