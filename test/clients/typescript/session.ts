/** A session with the client that @hey-api/openapi-ts generates: `session.ts BASE_URL`. */

import assert from 'node:assert/strict';
import { client } from './catalog/client.gen.js';
import { createBook, createToken, deleteBook, getBook, listBooks, updateBook } from './catalog/index.js';

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

const others = [await createBook({ body: {} }), await createBook({ body: {} })].map(({ data }) => data?.data.id ?? 0);
const readPage = (after: number) => listBooks({ query: { limit: 2, after } });
const listed: number[] = [];
for (let after: number | undefined = id - 1; after !== undefined; ) {
  const page = await readPage(after);
  listed.push(...(page.data?.data ?? []).map((each) => each.id));
  const next = /<(\?.*)>; rel="next"/.exec(page.response?.headers.get('Link') ?? '')?.[1];
  after = next === undefined ? undefined : Number(new URLSearchParams(next).get('after'));
}
assert.deepEqual(listed, [id, ...others]);

const etag = created.response?.headers.get('ETag') ?? '';
const unchanged = await getBook({ path: { id }, headers: { 'If-None-Match': etag } });
assert.deepEqual([unchanged.response?.status, unchanged.data], [304, undefined]);

const update = {
  path: { id },
  headers: { 'If-Match': etag },
  body: { author: 'Frank Herbert' },
};
const updated = await updateBook(update);
const refused = await updateBook(update);
const author: string | undefined = updated.data?.data.author;
assert.equal(author, 'Frank Herbert');
assert.deepEqual([refused.error?.message, refused.error?.data], ['Precondition failed', null]);

const deleted = await deleteBook({ path: { id }, headers: { 'If-Match': '*' } });
const missing = await deleteBook({ path: { id } });
assert.deepEqual([deleted.data?.message, deleted.data?.data], ['Book deleted successfully', null]);
assert.equal(missing.error?.message, 'Book not found');
for (const other of others) await deleteBook({ path: { id: other } });
