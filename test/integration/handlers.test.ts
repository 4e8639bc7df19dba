import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Engine, provideEngine, startEngine } from '../simulators/engine.ts';
import { startFaultyProxy } from '../simulators/faulty-proxy.ts';
import { type BookTable, createBookTable, emma, listBooks, setCounter } from '../support/book-table.ts';
import { type CapturedLog, captureLog } from '../support/captured-log.ts';
import { forgeToken } from '../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

let engine: Engine;
let table: BookTable;
let call: Call;
let log: CapturedLog;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  log = captureLog();
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };
const withBody = (body: unknown) => ({ headers, body: JSON.stringify(body) });
const error = (status: number, message: string) => ({
  status,
  headers: { 'Content-Type': 'application/json', ...(status === 503 && { 'Retry-After': '1' }) },
  envelope: { status, message, data: null },
});
const bookNotFound = error(404, 'Book not found');
const invalidInput = error(400, 'Invalid input');

const protectedRoutes = [
  ['POST', '/book'],
  ['GET', '/books'],
  ['GET', '/book/1'],
  ['PUT', '/book/1'],
  ['DELETE', '/book/1'],
] as const;

describe('the endpoints together', () => {
  test('a token from POST /token opens every endpoint, through the whole life of a book', async () => {
    const login = JSON.stringify({ username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD });
    const { envelope: issued } = await call('POST', '/token', { body: login });
    const { token } = issued.data as { token: string };
    const authorized = { headers: { authorization: token } };

    const steps = [
      await call('POST', '/book', { ...authorized, body: JSON.stringify(emma) }),
      await call('GET', '/books', authorized),
      await call('GET', '/book/1', authorized),
      await call('PUT', '/book/1', { ...authorized, body: '{"year":1816}' }),
      await call('GET', '/book/1', authorized),
      await call('DELETE', '/book/1', authorized),
      await call('GET', '/book/1', authorized),
      await call('GET', '/books', authorized),
    ];

    expect(steps.map(({ envelope }) => envelope)).toEqual([
      { status: 201, message: 'Book created successfully', data: { id: 1, ...emma } },
      { status: 200, message: 'Books retrieved successfully', data: [{ id: 1, ...emma }] },
      { status: 200, message: 'Book retrieved successfully', data: { id: 1, ...emma } },
      { status: 200, message: 'Book updated successfully', data: { id: 1, ...emma, year: 1816 } },
      { status: 200, message: 'Book retrieved successfully', data: { id: 1, ...emma, year: 1816 } },
      { status: 200, message: 'Book deleted successfully', data: null },
      { status: 404, message: 'Book not found', data: null },
      { status: 200, message: 'Books retrieved successfully', data: [] },
    ]);
    for (const step of steps) {
      expect(step.status).toBe(step.envelope.status);
      expect(step.headers).toMatchObject({ 'Content-Type': 'application/json' });
    }
  });
});

describe.each(protectedRoutes)('%s %s', (method, path) => {
  test('without a token: 401 before anything else, and nothing is carried out', async () => {
    const { id } = await table.repository.create(emma);

    const answers = [
      await call(method, path),
      await call(method, path, { body: '{"title":"changed"}' }),
      await call(method, path, { headers: { Authorization: '' }, body: '{' }),
    ];

    expect(answers).toEqual(Array(3).fill(error(401, 'Authorization token required')));
    expect(await listBooks(table)).toEqual([{ id, ...emma }]);
  });

  test('with an invalid token: 401 before anything else, and nothing is carried out', async () => {
    const { id } = await table.repository.create(emma);

    const answers = [
      await call(method, path, { headers: { Authorization: 'nonsense' }, body: '{' }),
      await call(method, path, { headers: { Authorization: `Bearer ${headers.Authorization}` } }),
      await call(method, path, { headers: { Authorization: forgeToken({ secret: 'other' }) }, body: '{}' }),
      await call(method, path, {
        headers: { Authorization: forgeToken({ claims: { exp: 1 }, secret: settings.SECRET_TOKEN }) },
      }),
    ];

    expect(answers).toEqual(Array(4).fill(error(401, 'Invalid token')));
    expect(await listBooks(table)).toEqual([{ id, ...emma }]);
  });

  test('with a storage that has failed: 503 with Retry-After and never a false 404', async () => {
    await table.client.send(new DeleteTableCommand({ TableName: table.tableName }));

    const answer = await call(method, path, withBody({ title: 'x' }));

    expect(answer).toEqual(error(503, 'Service unavailable'));
    expect(log.lines.at(-1)).toMatchObject({
      level: 'ERROR',
      status: 503,
      error: { name: 'StorageUnavailableError', cause: { name: 'ResourceNotFoundException' } },
    });
  });
});

describe('POST /book', () => {
  test('missing fields are stored as zero values, and unknown ones and an id are ignored', async () => {
    const { envelope } = await call('POST', '/book', withBody({ id: 99, title: 'Emma', isbn: 'x' }));

    expect(envelope.data).toEqual({ id: 1, title: 'Emma', author: '', year: 0 });
    expect(await listBooks(table)).toEqual([envelope.data]);
  });

  test('a body in base64 is decoded first', async () => {
    const body = Buffer.from(JSON.stringify({ ...emma, title: 'Zażółć 📚' })).toString('base64');

    const { envelope } = await call('POST', '/book', { headers, body, isBase64Encoded: true });

    expect(envelope.data).toEqual({ id: 1, ...emma, title: 'Zażółć 📚' });
  });

  test.each([
    null,
    '',
    '{',
    '[]',
    '"x"',
    '1',
    'null',
    '{"title":1}',
    '{"author":null}',
    '{"year":"1815"}',
    '{"year":1.5}',
  ])('the body %j: 400, nothing is stored and no id is drawn', async (body) => {
    expect(await call('POST', '/book', { headers, body })).toEqual(invalidInput);

    expect((await table.repository.create(emma)).id).toBe(1);
  });

  test('a book over 400 KB: 413, and nothing is stored', async () => {
    const answer = await call('POST', '/book', withBody({ title: 'x'.repeat(409_600) }));

    expect(answer).toEqual(error(413, 'Payload too large'));
    expect(await listBooks(table)).toEqual([]);
  });

  test('a counter that was reset: 500 without details, which are in the log', async () => {
    const existing = await table.repository.create(emma);
    await setCounter(table, 0);

    expect(await call('POST', '/book', withBody({ title: 'x' }))).toEqual(
      error(500, 'Internal server error'),
    );

    expect(await listBooks(table)).toEqual([existing]);
    expect(log.lines.at(-1)).toMatchObject({ level: 'ERROR', error: { name: 'IdTakenError' } });
  });
});

describe.each([
  ['GET', null],
  ['PUT', '{"title":"x"}'],
  ['PUT', '{'],
  ['DELETE', null],
])('%s /book/{id} with the body %j', (method, body) => {
  test('an id that no book has: 404', async () => {
    expect(await call(method, '/book/1', { headers, body })).toEqual(bookNotFound);
  });

  test('an id that is no canonical unsigned integer: 404 without asking the database', async () => {
    await table.repository.create(emma);
    const proxy = await startFaultyProxy(engine.endpoint);
    const callThroughProxy = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
    const requestsWhileLoading = proxy.countRequests('GetItem');

    for (const id of [
      'abc',
      '0',
      '-1',
      '01',
      '1.0',
      '1e0',
      '+1',
      '9007199254740992',
      ' 1',
      '1 ',
      '%31',
      '',
    ]) {
      expect(await callThroughProxy(method, `/book/${id}`, { headers, body }), id).toEqual(bookNotFound);
    }

    expect(proxy.countRequests('GetItem')).toBe(requestsWhileLoading);
    expect(proxy.countRequests('UpdateItem') + proxy.countRequests('DeleteItem')).toBe(0);
    await proxy.stop();
  });
});

describe('PUT /book/{id}', () => {
  test('an empty object: 200 with the unchanged book', async () => {
    const book = await table.repository.create(emma);

    expect((await call('PUT', '/book/1', withBody({}))).envelope).toEqual({
      status: 200,
      message: 'Book updated successfully',
      data: book,
    });
  });

  test('an id and unknown members in the body are neither stored nor shown', async () => {
    await table.repository.create(emma);

    const { envelope } = await call('PUT', '/book/1', withBody({ id: 7, title: 'x', isbn: 'y' }));

    expect(envelope.data).toEqual({ id: 1, ...emma, title: 'x' });
    expect(await listBooks(table)).toEqual([envelope.data]);
  });

  test.each([
    null,
    '',
    '{',
    '[]',
    'null',
    '{"title":null}',
    '{"title":"x","year":"1815"}',
    '{"year":9007199254740992}',
  ])('the body %j to a book that exists: 400, and no field of it is changed', async (body) => {
    const book = await table.repository.create(emma);

    expect(await call('PUT', '/book/1', { headers, body })).toEqual(invalidInput);

    expect(await listBooks(table)).toEqual([book]);
  });

  test('changes over 400 KB: 413 to a book that exists, 404 to one that does not', async () => {
    const book = await table.repository.create(emma);
    const request = withBody({ title: 'x'.repeat(409_600) });

    expect(await call('PUT', '/book/1', request)).toEqual(error(413, 'Payload too large'));
    expect(await call('PUT', '/book/2', request)).toEqual(bookNotFound);
    expect(await listBooks(table)).toEqual([book]);
  });
});

describe('DELETE /book/{id}', () => {
  test('a second time: 404', async () => {
    await table.repository.create(emma);

    expect((await call('DELETE', '/book/1', { headers })).status).toBe(200);
    expect(await call('DELETE', '/book/1', { headers })).toEqual(bookNotFound);
  });
});

describe('GET /books', () => {
  test('books of several shards come in the order of their ids', async () => {
    await table.repository.create(emma);
    await setCounter(table, 9_998);
    for (let count = 0; count < 3; count += 1) await table.repository.create(emma);

    const { envelope } = await call('GET', '/books', { headers });

    expect((envelope.data as { id: number }[]).map(({ id }) => id)).toEqual([1, 9_999, 10_000, 10_001]);
  });
});

describe('the log of the functions', () => {
  test('a line for each request, with nothing in it that a client sent but the route', async () => {
    const token = headers.Authorization;
    await call('POST', '/token', { body: '{"username":"sentinel","password":"sentinel"}' });
    await call('POST', '/book', withBody({ title: 'sentinel' }));
    await call('POST', '/book', withBody({ title: 'sentinel'.repeat(60_000) }));
    await call('GET', '/book/sentinel', { headers });
    await call('PUT', '/book/1', withBody({ author: 'sentinel' }));
    await call('GET', '/books', { headers });
    await call('DELETE', '/book/1', { headers: { Authorization: 'sentinel' } });
    await table.client.send(new DeleteTableCommand({ TableName: table.tableName }));
    await call('POST', '/book', withBody({ title: 'sentinel' }));
    await call('PUT', '/book/1', withBody({ title: 'sentinel' }));

    expect(log.lines.map(({ route, status }) => `${route} ${status}`)).toEqual([
      'POST /token 401',
      'POST /book 201',
      'POST /book 413',
      'GET /book/{id} 404',
      'PUT /book/{id} 200',
      'GET /books 200',
      'DELETE /book/{id} 401',
      'POST /book 503',
      'PUT /book/{id} 503',
    ]);
    expect(log.text).not.toContain('sentinel');
    for (const part of token.split('.')) expect(log.text).not.toContain(part);
  });
});

describe('a function instance', () => {
  test.each(['create-book', 'list-books', 'get-book', 'update-book', 'delete-book'])(
    '%s does not load without its settings, its table or its storage',
    async (name) => {
      const load = () => {
        vi.resetModules();
        return import(`../../handlers/${name}.ts`);
      };

      vi.stubEnv('SECRET_TOKEN', '');
      await expect(load()).rejects.toThrow('SECRET_TOKEN is empty');
      vi.stubEnv('SECRET_TOKEN', settings.SECRET_TOKEN);
      vi.stubEnv('DB_URL', 'books');
      await expect(load()).rejects.toThrow('DB_URL is not the URL');
      vi.stubEnv('DB_URL', `${engine.endpoint}/no-such-table`);
      await expect(load()).rejects.toThrow('the table "no-such-table" does not exist');
      const stopped = await startEngine();
      await stopped.stop();
      vi.stubEnv('DB_URL', `${stopped.endpoint}/books`);
      await expect(load()).rejects.toThrow(/DynamoDB failed: .*ECONNREFUSED/);
    },
  );

  test('loads at the next attempt, once its table is there', async () => {
    vi.stubEnv('DB_URL', `${engine.endpoint}/no-such-table`);
    vi.resetModules();
    await expect(import('../../handlers/get-book.ts')).rejects.toThrow('does not exist');

    vi.stubEnv('DB_URL', table.url);
    vi.resetModules();

    await expect(import('../../handlers/get-book.ts')).resolves.toHaveProperty('handler');
  });
});
