import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { createBook, expectBooks, expectInList, expectStored, listPath, pickBooks } from '../books.ts';
import { defineCases } from '../case.ts';

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  identity: (body) => body,
};

const accepts = ['gzip', 'br', 'zstd', 'gzip, deflate, br', 'identity', 'x-unknown', '*;q=0', 'gzip;q=0'];

/** Content coding (RFC 9110 section 12.5.3): compression is optional, but the client has to support the coding. */
export const compressionCases = defineCases('compression', (test) => {
  for (const accepted of accepts) {
    test('1.7', `Accept-Encoding: ${accepted} allows the coding of a list`, async (context) => {
      const books = [await createBook(context, { title: 'é'.repeat(10_000) }), await createBook(context)];
      const headers = { Accept: '*/*', 'Accept-Encoding': accepted };
      const response = await context.call('GET', listPath(context), undefined, headers);
      const coding = response.headers['content-encoding'] ?? 'identity';
      const allowed = ['identity', ...accepted.split(', ')];
      assert.ok(allowed.includes(coding), `Content-Encoding is ${allowed.join(' or ')}, got ${coding}`);
      const body = decoders[coding]?.(response.body) ?? response.body;
      assert.deepEqual(pickBooks(expectBooks({ ...response, body }), books), books, 'own books in the list');
    });
  }

  test('1.7', 'Responses for a client that names no coding are not coded', async (context) => {
    const book = await createBook(context, { title: 'x'.repeat(10_000) });
    await expectStored(context, book);
    await expectInList(context, [book]);
  });
});
