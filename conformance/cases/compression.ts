import assert from 'node:assert/strict';
import type { Test } from '../case.ts';
import { expectBooks, pickBooks } from '../catalog.ts';
import { decodeBody } from '../decode-body.ts';

const codings = [
  undefined,
  'gzip',
  'br',
  'zstd',
  'gzip, deflate, br',
  'identity',
  'x-unknown',
  '*;q=0',
  'gzip;q=0',
  '*',
  '*;q=0.5, gzip',
];

/** Content coding (RFC 9110 section 12.5.3): compression is optional, but the client has to support the coding. */
export default function addCases(test: Test): void {
  for (const accepted of codings) {
    test('1.7', `Accept-Encoding: ${accepted} allows the coding of a list`, async (catalog) => {
      const books = [await catalog.createBook({ title: 'é'.repeat(10_000) }), await catalog.createBook()];
      const headers = { Accept: '*/*', ...(accepted !== undefined && { 'Accept-Encoding': accepted }) };
      const response = await catalog.call('GET', catalog.listPath, undefined, headers);
      const coding = response.headers['content-encoding'] ?? 'identity';
      const allowed = ['identity', ...(accepted?.split(', ') ?? [])];
      assert.ok(allowed.includes(coding), `Content-Encoding is ${allowed.join(' or ')}, got ${coding}`);
      const body = decodeBody(response.body, coding);
      assert.deepEqual(pickBooks(expectBooks({ ...response, body }), books), books, 'own books in the list');
    });
  }
}
