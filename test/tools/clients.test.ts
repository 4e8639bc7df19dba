import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  type BookCatalogClient,
  BookCatalogError,
  createBookCatalogClient,
  type FetchOptions,
} from '../../tools/client/book-catalog-client.ts';
import type { Retry, RetryPolicy } from '../../tools/client/retries.ts';
import { type Fate, type GatewayResponse, respond, startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { aBook } from '../support/a-book.ts';
import { defaultCredentials } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const credentials = { username: 'admin', password: 'password' };

const local = await useLocalService(defaultCredentials);

const createClient = () => createBookCatalogClient({ baseUrl: local.baseUrl, ...credentials });

test('the TypeScript client logs in by itself and creates, lists, fetches, changes and deletes a book', async () => {
  const client = createClient();

  const created = await client.createBook({ title: 'Emma', author: 'Jane Austen' });
  const { id } = created.book;
  const listed = await Array.fromAsync(client.listBooks({ after: id - 1 }));
  const changed = await client.updateBook(id, { year: 1815 });
  const fetched = await client.getBook(id);
  await client.deleteBook(id);

  const book = { id, ...aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 }) };
  expect(listed).toEqual([{ ...book, year: 0 }]);
  expect(created).toEqual({ book: { ...book, year: 0 }, etag: expect.stringMatching(/^".+"$/), replayed: false });
  expect(changed).toEqual({ book, etag: expect.stringMatching(/^".+"$/) });
  expect(fetched).toEqual(changed);
  await expect(client.getBook(id)).rejects.toMatchObject({ status: 404, message: 'Book not found' });
  await expect(client.deleteBook(id)).rejects.toBeInstanceOf(BookCatalogError);
});

test('an entity tag makes a call conditional, and an empty one matches nothing', async () => {
  const client = createClient();
  const { book, etag } = await client.createBook({});
  const ifMatch = (await client.updateBook(book.id, { year: 1 }, { ifMatch: etag })).etag;

  const isLost = { status: 412, message: 'Precondition failed' };
  for (const tag of [etag, '']) {
    await expect(client.updateBook(book.id, { year: 2 }, { ifMatch: tag })).rejects.toMatchObject(isLost);
    await expect(client.deleteBook(book.id, { ifMatch: tag })).rejects.toMatchObject(isLost);
    expect(await client.getBook(book.id, { ifNoneMatch: tag })).toEqual({ book: { ...book, year: 1 }, etag: ifMatch });
  }
  await client.deleteBook(book.id, { ifMatch });
});

test('a book that has not changed is undefined, which the types of getBook say', async () => {
  const client = createClient();
  const { book, etag } = await client.createBook({ title: 'Emma' });

  const options: FetchOptions = { ifNoneMatch: etag };
  const same = await client.getBook(book.id, options);
  const other = await client.getBook(book.id, { ifNoneMatch: undefined });

  expect(same).toEqual({ book: undefined, etag });
  // @ts-expect-error
  expect(() => same.book.title).toThrow(TypeError);
  expect(other.book.title).toBe('Emma');
  expect((await client.getBook(book.id)).book.title).toBe('Emma');
});

test('creates with one key of the caller make one book, and the later ones say so', async () => {
  const client = createClient();
  const idempotencyKey = randomUUID();

  const first = await client.createBook({ title: 'Emma' }, { idempotencyKey });
  const second = await client.createBook({ title: 'Emma' }, { idempotencyKey });

  expect(second).toEqual({ ...first, replayed: true });
  const reuse = client.createBook({ title: 'Other' }, { idempotencyKey });
  await expect(reuse).rejects.toMatchObject({ status: 422, message: 'Idempotency key already used' });
  await expect(client.createBook({}, { idempotencyKey: 'a\nb' })).rejects.toThrow(TypeError);
});

test.each<[string, Fate[]]>([
  ['share one login', []],
  [
    'log in again once when their token is refused',
    [respond(200, 'Token generated successfully', {}, { token: 'no longer valid' })],
  ],
])('concurrent calls of the TypeScript client %s', async (_name, fates) => {
  const { client, attempts } = await createFaultyClient('POST /token', fates);

  const all = await Promise.all(Array.from({ length: 10 }, () => client.createBook({})));

  expect(new Set(all.map(({ book }) => book.id)).size).toBe(10);
  expect(attempts).toHaveLength(fates.length + 1);
});

test('wrong credentials reject the call with the message of the service, each time', async () => {
  const client = createBookCatalogClient({ baseUrl: local.baseUrl, ...credentials, password: 'wrong' });

  for (const _ of [1, 2]) {
    const error = { name: 'BookCatalogError', status: 401, message: 'Invalid credentials' };
    await expect(client.getBook(1)).rejects.toMatchObject(error);
  }
});

test('an error has the request id of the response, to be quoted', async () => {
  const refused = respond(401, 'Invalid credentials', { 'x-amzn-RequestId': 'an id' });
  const { client } = await createFaultyClient('POST /token', [refused]);

  const error = await client.getBook(1).catch((error: unknown) => error);

  expect(error).toBeInstanceOf(BookCatalogError);
  expect(error).toMatchObject({ status: 401, message: 'Invalid credentials', requestId: 'an id' });
});

test.each<[string, GatewayResponse, string]>([
  ['the page of a proxy', { status: 500, body: '<h1>Oops</h1>' }, ': "<h1>Oops</h1>"'],
  ['an empty body', { status: 403, body: '' }, ': ""'],
  ['JSON of another program', { status: 200, body: '{"message":"OK"}' }, ': "{\\"message\\":\\"OK\\"}"'],
  ['a long page', { status: 404, body: 'x'.repeat(1000) }, `: "${'x'.repeat(200)}"`],
  ['a 304 that nobody asked for', { status: 304, body: '' }, ': ""'],
])('%s instead of the envelope is an error with the address and the first of its text', async (_, fate, text) => {
  const { client, baseUrl } = await createFaultyClient('GET /book/1', [fate]);

  const error = await client.getBook(1).catch((error: unknown) => error);

  expect(error).toBeInstanceOf(BookCatalogError);
  const message = `no envelope in the response from ${baseUrl}/book/1${text}`;
  expect(error).toMatchObject({ status: fate.status, message });
});

test.each([
  'localhost:8080',
  'ftp://localhost',
  '',
  'http://localhost/a b',
  'http://localhost?x=1',
  'http://localhost/#f',
  'http://reader:secret@localhost',
  'http://:secret@localhost/prod',
  'http://reader:secret@local host',
])('the base URL "%s" is refused at once, and no password is in the error', async (baseUrl) => {
  const create = async () => createBookCatalogClient({ baseUrl, ...credentials });

  const error = await create().catch((error: unknown) => error);

  expect(error).toBeInstanceOf(TypeError);
  // With the members that a program prints, too.
  expect(inspect(error)).not.toContain('secret');
});

test('a base URL may end in slashes', async () => {
  const client = createBookCatalogClient({ baseUrl: `${local.baseUrl}//`, ...credentials });

  expect((await client.createBook({ title: 'Emma' })).book.title).toBe('Emma');
});

const throttled = respond(429, 'Too many requests', { 'Retry-After': '3' });
const unavailable = respond(503, 'Service unavailable', { 'Retry-After': '1' });

test('a create is sent with one key until it has a response, and creates one book', async () => {
  const failed = [respond(502, 'Bad gateway'), unavailable, respond(504, 'Gateway timeout'), throttled];
  const fates: Fate[] = ['lose request', 'lose response', 'lose response', 'cut response', ...failed];
  const { client, attempts, waits } = await createFaultyClient('POST /book', fates);
  const title = randomUUID();

  const { book, etag, replayed } = await client.createBook({ title });

  expect([book.title, replayed]).toEqual([title, true]);
  expect(etag).toMatch(/^".+"$/);
  expect(attempts).toHaveLength(fates.length + 1);
  expect(new Set(attempts).size).toBe(1);
  expect(attempts[0]).toMatch(/^\d+(-\d+){3}$/);
  const statuses = [...Array(4).fill(undefined), 502, 503, 504, 429];
  expect(waits.map(({ error }) => error.status)).toEqual(statuses);
  expect(waits[0]?.error.message).toMatch(/^no response from .*\/book \(.+\)$/);
  expect(waits.at(-1)?.error.message).toBe('Too many requests');
  const list = await Array.fromAsync(createClient().listBooks());
  expect(list.filter((book) => book.title === title)).toHaveLength(1);
});

test('a login goes on when one of the calls that wait for it ends', async () => {
  const { promise: fate, resolve } = Promise.withResolvers<Fate>();
  const { client, attempts } = await createFaultyClient('POST /token', [fate]);
  const first = client.createBook({}, { signal: AbortSignal.timeout(300) });
  const second = client.createBook({ title: 'Emma' });

  await expect(first).rejects.toThrow('timeout');
  resolve('pass');

  expect((await second).book.title).toBe('Emma');
  expect(attempts).toHaveLength(1);
});

test('listBooks() reads all books in pages of a size, and reads on after a page that failed', async () => {
  const titles = ['A', 'B', 'C', 'D', 'E'];
  const client = createClient();
  const ids: number[] = [];
  for (const title of titles) ids.push((await client.createBook({ title })).book.id);
  const after = (ids[0] ?? 0) - 1;
  const endsInHalf: Fate = (body) => body.slice(0, body.length / 2);
  const pages: Fate[] = ['pass', 'lose request', 'cut response', unavailable, endsInHalf, () => '', 'pass', 'pass'];
  const paths: string[] = [];
  const gateway = await startFaultyGateway(local.baseUrl, (name) => {
    if (!name.startsWith('GET /books')) return 'pass';
    paths.push(name);
    return pages[paths.length - 1] ?? 'pass';
  });
  onTestFinished(() => gateway.stop());
  const retries = { giveUpAfterMs: 600_000, wait: async () => {} };
  const reader = createBookCatalogClient({ baseUrl: gateway.baseUrl, ...credentials, retries });

  const read = await Array.fromAsync(reader.listBooks({ pageSize: 2, after }));

  expect(read.map(({ id, title }) => [id, title])).toEqual(ids.map((id, index) => [id, titles[index]]));
  const starts = [after, ...Array(6).fill(ids[1]), ids[3]];
  expect(paths).toEqual(starts.map((start) => `GET /books?limit=2&after=${start}`));
});

test('a create that does not succeed ends with the last failure', async () => {
  const retries = { giveUpAfterMs: 2_000, wait: async () => {} };
  const create = async (fate: Fate) => {
    const { client } = await createFaultyClient('POST /book', Array(100).fill(fate), retries);
    return client.createBook({});
  };

  await expect(create('lose request')).rejects.toMatchObject({ name: 'BookCatalogError', status: undefined });
  await expect(create(unavailable)).rejects.toMatchObject({ status: 503, message: 'Service unavailable' });
});

test.each<[string, (client: BookCatalogClient) => Promise<unknown>]>([
  ['PUT /book/1', (client) => client.updateBook(1, {})],
  ['DELETE /book/1', (client) => client.deleteBook(1)],
])('%s is retried after 429, which never reached the service, and after nothing else', async (name, change) => {
  for (const fate of ['lose response', unavailable] as const) {
    const { client, attempts } = await createFaultyClient(name, [throttled, throttled, fate]);

    await expect(change(client)).rejects.toBeInstanceOf(BookCatalogError);

    expect(attempts).toHaveLength(3);
  }
});

/** A client behind a gateway that fails the first requests of a name; by default it does not wait before retries. */
async function createFaultyClient(
  name: string,
  fates: readonly (Fate | Promise<Fate>)[],
  policy?: Partial<RetryPolicy>,
) {
  const attempts: unknown[] = [];
  const waits: Retry[] = [];
  const gateway = await startFaultyGateway(local.baseUrl, (incoming, headers) => {
    if (incoming !== name) return 'pass';
    attempts.push(headers['idempotency-key']);
    return fates[attempts.length - 1] ?? 'pass';
  });
  onTestFinished(() => gateway.stop());
  const wait = async (retry: Retry) => void waits.push(retry);
  const retries = policy ?? { giveUpAfterMs: 600_000, wait };
  const client = createBookCatalogClient({ baseUrl: gateway.baseUrl, ...credentials, retries });
  return { client, attempts, waits, baseUrl: gateway.baseUrl };
}
