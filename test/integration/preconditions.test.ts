import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { BookNotFoundError, StorageUnavailableError, VersionMismatchError } from '../../lib/books/errors.ts';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { type FaultyProxy, startFaultyProxy } from '../simulators/faulty-proxy.ts';
import { type BookTable, connect, createBookTable, emma } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { forgeToken } from '../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

let engine: Engine;
let proxy: FaultyProxy;
let table: BookTable;
/** Reaches the engine through the proxy. */
let books: BookRepository;
/** Another client, which reaches it directly. */
let others: BookRepository;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  proxy = await startFaultyProxy(engine.endpoint);
  table = await createBookTable(engine.endpoint);
  books = new BookRepository(connect(proxy.endpoint), table.tableName);
  others = new BookRepository(table.client, table.tableName);
});

afterEach(async () => {
  await proxy.stop();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function createVersion(): Promise<string> {
  const { version = '' } = await others.create(emma);
  return version;
}

const manyVersions = (count: number) => Array.from({ length: count }, (_, index) => `version ${index}`);

describe('a version', () => {
  test('is another one after each change, and the same while nothing changed', async () => {
    const versions = [
      await createVersion(),
      (await books.update(1, { year: 1 })).version,
      (await books.update(1, { year: 1 })).version,
      (await books.update(1, { title: '' })).version,
    ];

    expect(new Set(versions).size).toBe(4);
    expect((await books.get(1)).version).toBe(versions.at(-1));
    expect((await books.update(1, {})).version).toBe(versions.at(-1));
    expect(versions.join('')).toMatch(/^[\w-]+$/);
  });

  test('a book that was stored by other means has none until it is changed', async () => {
    const Item = { ...bookKey(1), ...emma };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

    expect((await books.get(1)).version).toBeUndefined();
    await expect(books.update(1, { year: 1 }, [''])).rejects.toThrow(VersionMismatchError);
    await expect(books.delete(1, ['undefined'])).rejects.toThrow(VersionMismatchError);
    const { version = '' } = await books.update(1, { year: 1 });
    expect(await books.update(1, { year: 2 }, [version])).toMatchObject({ book: { year: 2 } });
    await books.delete(1);
    await expect(books.get(1)).rejects.toThrow(BookNotFoundError);
  });
});

describe.each([1, 2, 99, 100, 101, 1_000])('%i versions, one of which the book has', (count) => {
  test('the book is changed, and removed', async () => {
    const version = await createVersion();
    const named = [...manyVersions(count - 1), version];

    const updated = await books.update(1, { year: 1816 }, named);
    await expect(books.update(1, { year: 1817 }, named)).rejects.toThrow(VersionMismatchError);
    await expect(books.delete(1, named)).rejects.toThrow(VersionMismatchError);
    expect(await others.get(1)).toEqual(updated);
    expect(updated.book.year).toBe(1816);

    await books.delete(1, [...manyVersions(count - 1), updated.version ?? '']);
    await expect(others.get(1)).rejects.toThrow(BookNotFoundError);
  });
});

describe.each([
  ['none', []],
  ['an empty one', ['']],
  ['another one', ['x']],
  ['100 others', manyVersions(100)],
  ['200 others', manyVersions(200)],
  ['10 KB in one', ['x'.repeat(10_000)]],
  ['10 KB of short ones', manyVersions(900)],
  ['the same other one twice', ['x', 'x']],
  ['syntax of expressions', [') OR attribute_exists(id', ':writeToken', '#title', '\xff']],
])('versions that the book is not in: %s', (_name, versions) => {
  test('nothing is changed or removed', async () => {
    const created = await others.create(emma);

    await expect(books.update(1, { title: 'x' }, versions)).rejects.toThrow(VersionMismatchError);
    await expect(books.update(1, {}, versions)).rejects.toThrow(VersionMismatchError);
    await expect(books.delete(1, versions)).rejects.toThrow(VersionMismatchError);

    const { book, version } = created;
    expect(await others.get(1)).toEqual({ book, version });
  });

  test('a book that is not there is not found', async () => {
    await expect(books.update(1, { title: 'x' }, versions)).rejects.toThrow(BookNotFoundError);
    await expect(books.update(1, {}, versions)).rejects.toThrow(BookNotFoundError);
    await expect(books.delete(1, versions)).rejects.toThrow(BookNotFoundError);
  });
});

describe('who decides', () => {
  test('the database, in the request of the write: an update or a deletion is one request', async () => {
    const version = await createVersion();

    const updated = await books.update(1, { year: 1 }, [version]);
    await books.delete(1, [updated.version ?? '']);

    expect([...proxy.operations()].sort()).toEqual(['DeleteItem', 'UpdateItem']);
    expect(proxy.countRequests('UpdateItem') + proxy.countRequests('DeleteItem')).toBe(2);
  });

  test('of 20 updates and 20 deletions of one version at the same time exactly one is carried out', async () => {
    const version = await createVersion();

    const results = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, year) => books.update(1, { year }, [version])),
      ...Array.from({ length: 20 }, () => books.delete(1, [version])),
    ]);

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = results.filter((result) => result.status === 'rejected');
    for (const { reason } of refused) expect(reason.name).toMatch(/VersionMismatch|BookNotFound/);
  });

  test('of 20 updates of one version at the same time, after 200 tags each, exactly one is carried out', async () => {
    const named = [...manyVersions(200), await createVersion()];

    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, year) => books.update(1, { year }, named)),
    );

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a response that was lost', () => {
  test('an update that was carried out says so', async () => {
    const version = await createVersion();
    proxy.injectFault('UpdateItem', 'response lost', 1);

    const updated = await books.update(1, { year: 1 }, [version]);

    expect(updated.book.year).toBe(1);
    expect(await others.get(1)).toEqual(updated);
  });

  test('an update that was not carried out, and overtaken: the version is another one', async () => {
    const version = await createVersion();
    proxy.injectFault('UpdateItem', 'no response', 1);
    const updating = expect(books.update(1, { year: 1 }, [version])).rejects.toThrow(VersionMismatchError);
    await vi.waitFor(() => expect(proxy.countRequests('UpdateItem')).toBe(1));
    const theirs = await others.update(1, { year: 2 }, [version]);

    await updating;

    expect(await others.get(1)).toEqual(theirs);
  });

  test('an update that may have been carried out and was changed twice since: nobody knows', async () => {
    const version = await createVersion();
    proxy.injectFault('UpdateItem', 'response withheld', 1);
    const updating = expect(books.update(1, { year: 1 }, [version])).rejects.toThrow(StorageUnavailableError);
    await vi.waitFor(async () => expect((await others.get(1)).book.year).toBe(1));
    await others.update(1, { title: 'a' });
    const theirs = await others.update(1, { title: 'b' });

    await updating;

    expect(await others.get(1)).toEqual(theirs);
  });

  test('an update that was carried out and changed once since gives the book as it is now', async () => {
    const version = await createVersion();
    proxy.injectFault('UpdateItem', 'response withheld', 1);
    const updating = books.update(1, { year: 1 }, [version]);
    await vi.waitFor(async () => expect((await others.get(1)).book.year).toBe(1));
    const theirs = await others.update(1, { title: 'a' });

    expect(await updating).toEqual(theirs);
    expect(await others.get(1)).toEqual(theirs);
  });

  test('an update of a version that the book is not in stays refused', async () => {
    await createVersion();
    const { version } = await others.update(1, { year: 1 });
    proxy.injectFault('UpdateItem', 'response lost', 1);

    await expect(books.update(1, { year: 2 }, ['x'])).rejects.toThrow();

    expect(await others.get(1)).toMatchObject({ book: { year: 1 }, version });
  });

  test.each([1, 2])('a deletion that was carried out says so, %i times', async (times) => {
    const version = await createVersion();
    proxy.injectFault('DeleteItem', 'response lost', times);

    await expect(books.delete(1, [version])).resolves.toBeUndefined();

    await expect(others.get(1)).rejects.toThrow(BookNotFoundError);
  });

  test('a deletion of another version is refused, and not repeated into a success', async () => {
    await createVersion();
    proxy.injectFault('DeleteItem', 'response lost', 2);

    await expect(books.delete(1, ['x'])).rejects.toThrow(VersionMismatchError);

    expect(await others.get(1)).toMatchObject({ book: emma });
  });
});

describe('the handlers', () => {
  const Authorization = forgeToken({ secret: settings.SECRET_TOKEN });
  let call: Call;

  beforeEach(async () => {
    captureLog();
    call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  });

  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
    call(method, path, {
      headers: { Authorization, ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
  const tagOf = ({ headers }: Awaited<ReturnType<Call>>) => String(headers?.ETag);
  const failed = (status: number, message: string) => ({
    status,
    headers: { 'Content-Type': 'application/json' },
    envelope: { status, message, data: null },
  });
  const preconditionFailed = failed(412, 'Precondition failed');

  test('POST, GET and PUT of a book carry one strong tag while nothing changes', async () => {
    const created = await ask('POST', '/book', {}, emma);

    expect(tagOf(created)).toMatch(/^"[\w-]+"$/);
    expect(tagOf(await ask('GET', '/book/1'))).toBe(tagOf(created));
    expect(tagOf(await ask('PUT', '/book/1', {}, {}))).toBe(tagOf(created));
    const changed = tagOf(await ask('PUT', '/book/1', {}, { year: 1 }));
    expect(changed).not.toBe(tagOf(created));
    expect(tagOf(await ask('GET', '/book/1'))).toBe(changed);
  });

  test('DELETE and errors have no tag', async () => {
    await ask('POST', '/book', {}, emma);

    const responses = [await ask('DELETE', '/book/1'), await ask('GET', '/book/1')];

    for (const { headers } of responses) expect(headers).not.toHaveProperty('ETag');
  });

  test('GET with If-None-Match', async () => {
    const tag = tagOf(await ask('POST', '/book', {}, emma));
    const get = (value: string) =>
      call('GET', '/book/1', { headers: { Authorization, 'If-None-Match': value } });

    for (const value of [tag, `W/${tag}`, '*', `"x", ${tag}`]) {
      expect(await get(value), value).toEqual({ status: 304, headers: { ETag: tag }, envelope: null });
    }
    for (const value of ['"x"', '', tag.slice(1, -1), `${tag} x`]) {
      expect((await get(value)).status, value).toBe(200);
    }
  });

  test('GET with If-None-Match of a book that is not there: 404', async () => {
    expect((await ask('GET', '/book/1', { 'If-None-Match': '*' })).status).toBe(404);
  });

  test('PUT and DELETE with If-Match', async () => {
    const old = tagOf(await ask('POST', '/book', {}, emma));
    const put = (tag: string) => ask('PUT', '/book/1', { 'If-Match': tag }, { year: 1 });

    const current = tagOf(await put(old));
    for (const tag of [old, `W/${current}`, '', 'x', `${current} x`, '"x"']) {
      expect(await put(tag), tag).toEqual(preconditionFailed);
      expect(await ask('DELETE', '/book/1', { 'If-Match': tag }), tag).toEqual(preconditionFailed);
    }
    expect((await put('*')).status).toBe(200);
    expect((await ask('DELETE', '/book/1', { 'If-Match': '*' })).status).toBe(200);
    expect(await ask('DELETE', '/book/1', { 'If-Match': '*' })).toEqual(failed(404, 'Book not found'));
    expect(await put('*')).toEqual(failed(404, 'Book not found'));
  });

  test('the checks come in the order 401, 404, 400, 413, 412', async () => {
    const headers = { 'If-Match': '"x"' };
    const tooLarge = { title: 'x'.repeat(409_600) };

    expect((await call('PUT', '/book/1', { headers, body: '{' })).status).toBe(401);
    expect((await call('DELETE', '/book/1', { headers })).status).toBe(401);
    expect((await ask('PUT', '/book/1', headers, { year: 'x' })).status).toBe(404);
    expect((await ask('PUT', '/book/1', headers, tooLarge)).status).toBe(404);
    expect((await ask('PUT', '/book/1', headers, {})).status).toBe(404);
    expect((await ask('DELETE', '/book/1', headers)).status).toBe(404);
    await ask('POST', '/book', {}, emma);
    expect((await ask('PUT', '/book/1', headers, { year: 'x' })).status).toBe(400);
    expect((await ask('PUT', '/book/1', headers, tooLarge)).status).toBe(413);
    expect((await ask('PUT', '/book/1', headers, {})).status).toBe(412);
    expect((await ask('PUT', '/book/1', headers, { year: 1 })).status).toBe(412);
  });

  test('a list of 10 KB of tags', async () => {
    const tag = tagOf(await ask('POST', '/book', {}, emma));
    const many = manyVersions(900).map((version) => `"${version.replace(' ', '-')}"`);

    expect((await ask('PUT', '/book/1', { 'If-Match': many.join() }, { year: 1 })).status).toBe(412);
    expect((await ask('PUT', '/book/1', { 'If-Match': [...many, tag].join() }, { year: 1 })).status).toBe(
      200,
    );
  });

  test('POST with a key: the first response, a replay, and the refusals in the order 401, 400, 400, 422', async () => {
    const post = (key: string, body: unknown, more: Partial<APIGatewayProxyEvent> = {}) =>
      call('POST', '/book', {
        headers: { Authorization, 'Idempotency-Key': key },
        body: JSON.stringify(body),
        ...more,
      });

    const first = await post('k', emma);
    expect(first.headers).toEqual({ 'Content-Type': 'application/json', ETag: tagOf(first) });
    expect(await post('k', { year: 1815.0, author: emma.author, title: emma.title, isbn: 'x' })).toEqual({
      ...first,
      headers: { ...first.headers, 'Idempotency-Replayed': 'true' },
    });
    expect(await post('k', { title: 'other' }, { headers: { 'Idempotency-Key': '' } })).toEqual(
      failed(401, 'Authorization token required'),
    );
    expect(await post('', { year: 'x' })).toEqual(failed(400, 'Invalid input'));
    expect(await post('', emma)).toEqual(failed(400, 'Invalid idempotency key'));
    expect(await post('a b', { title: 'x'.repeat(409_600) })).toEqual(failed(400, 'Invalid idempotency key'));
    expect(await post('k', {})).toEqual(failed(422, 'Idempotency key already used'));
    expect(await post('new', { title: 'x'.repeat(409_600) })).toEqual(failed(413, 'Payload too large'));
    expect((await post('new', {})).status).toBe(201);
    expect((await post('new', { title: '', author: '', year: 0 })).headers).toHaveProperty(
      'Idempotency-Replayed',
    );
  });

  test.each([[['Idempotency-Key', 'Idempotency-Key']], [['Idempotency-Key', 'idempotency-key']]])(
    'a key that was sent twice, as %j: 400, and nothing is stored',
    async ([one = '', other = '']) => {
      const multiValueHeaders =
        one === other
          ? { [one]: ['a', 'b'] }
          : { [one]: ['a'], [other]: ['b'], Authorization: [Authorization] };
      const headers = { Authorization, [one]: 'a', [other]: 'b' };

      const response = await call('POST', '/book', { headers, multiValueHeaders, body: '{}' });

      expect(response).toEqual(failed(400, 'Invalid idempotency key'));
    },
  );

  test('tags in two headers whose names are written differently are one list', async () => {
    const tag = tagOf(await ask('POST', '/book', {}, emma));
    const multiValueHeaders = { 'If-Match': [tag], 'if-match': ['"x"'] };

    const { status } = await call('DELETE', '/book/1', {
      headers: { Authorization, 'If-Match': tag, 'if-match': '"x"' },
      multiValueHeaders,
    });

    expect(status).toBe(200);
  });
});
