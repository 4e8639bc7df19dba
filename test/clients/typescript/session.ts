/** A session with the client that @hey-api/openapi-ts generates: `session.ts BASE_URL`. */

import assert from 'node:assert/strict';
import { client } from './catalog/client.gen.js';
import { createBook, createToken, deleteBook, listBooks, updateBook } from './catalog/index.js';

const farFuture = 3_000_000_000; // more than 32 bits

client.setConfig({ baseUrl: process.argv[2] ?? '', auth: () => token });
const login = await createToken({ body: { username: 'admin', password: 'password' } });
const token: string | undefined = login.data?.data.token;

const creation = { headers: { 'Idempotency-Key': crypto.randomUUID() }, body: { title: 'Dune', year: farFuture } };
const created = await createBook(creation);
const replayed = await createBook(creation);
const book = created.data?.data;
const id: number = book?.id ?? 0;
// A team may have added fields.
assert.deepEqual([book?.title, book?.author, book?.year], ['Dune', '', farFuture]);
assert.deepEqual(replayed.data, created.data);
assert.equal(created.response?.headers.get('Idempotency-Replayed'), null);
assert.equal(replayed.response?.headers.get('Idempotency-Replayed'), 'true');

const page = await listBooks({ query: { limit: 1, after: id - 1 } });
assert.deepEqual(page.data?.data, [book]);

const update = {
  path: { id },
  headers: { 'If-Match': created.response?.headers.get('ETag') ?? '' },
  body: { author: 'Frank Herbert' },
};
const updated = await updateBook(update);
const refused = await updateBook(update);
const author: string | undefined = updated.data?.data.author;
assert.equal(author, 'Frank Herbert');
const nothing: null | undefined = refused.error?.data;
assert.deepEqual([refused.error?.message, nothing], ['Precondition failed', null]);

const deleted = await deleteBook({ path: { id }, headers: { 'If-Match': '*' } });
const missing = await deleteBook({ path: { id } });
assert.deepEqual(deleted.data, { status: 200, message: 'Book deleted successfully', data: null });
assert.equal(missing.error?.message, 'Book not found');
