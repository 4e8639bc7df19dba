import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startEngine } from '../simulators/engine.ts';
import { emma, listBooks, readCounter, setCounter } from '../support/book-table.ts';
import { useService, validToken } from '../support/fixtures.ts';
import { forgeToken } from '../support/forge-token.ts';
import { settings } from '../support/load-handlers.ts';

const service = useService();
const { send } = service;

const json = { 'Content-Type': 'application/json' };
const tooLarge = { title: 'x'.repeat(409_600) };

const failed = (status: number, message: string) => ({
  status,
  headers: { ...json, ...(status === 503 && { 'Retry-After': '1' }) },
  envelope: { status, message, data: null },
});
const invalidInput = failed(400, 'Invalid input');
const bookNotFound = failed(404, 'Book not found');

/** A book of the current test. */
let id: number;
let path: string;

beforeEach(async () => {
  ({ id } = await service.table.repository.create(emma));
  path = `/book/${id}`;
});

const readAll = () => listBooks(service.table);

test('a token from POST /token opens every endpoint, through the life of a book', async () => {
  const body = JSON.stringify({ username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD });
  const { envelope: issued } = await service.call('POST', '/token', { body });
  const { token } = issued.data as { token: string };
  const before = await readAll();
  const book = { id: id + 1, ...emma };

  const request = async (method: string, resource: string, sent?: object) => {
    const { status, headers, envelope } = await service.call(method, resource, {
      headers: { authorization: token },
      ...(sent && { body: JSON.stringify(sent) }),
    });
    expect(headers).toMatchObject(json);
    expect(envelope.status).toBe(status);
    return [status, envelope.message, envelope.data];
  };

  expect(issued).toMatchObject({ status: 200, message: 'Token generated successfully' });
  const one = `/book/${book.id}`;
  const changed = { ...book, year: 1816 };
  expect(await request('POST', '/book', emma)).toEqual([201, 'Book created successfully', book]);
  const listed = [200, 'Books retrieved successfully', [...before, book]];
  expect(await request('GET', '/books')).toEqual(listed);
  expect(await request('GET', one)).toEqual([200, 'Book retrieved successfully', book]);
  expect(await request('PUT', one, { year: 1816 })).toEqual([200, 'Book updated successfully', changed]);
  expect(await request('DELETE', one)).toEqual([200, 'Book deleted successfully', null]);
  expect(await request('GET', one)).toEqual([404, 'Book not found', null]);
});

describe.each(['POST /book', 'GET /books', 'GET /book/{id}', 'PUT /book/{id}', 'DELETE /book/{id}'])(
  '%s',
  (route) => {
    const [method = '', resource = ''] = route.split(' ');
    const requested = () => resource.replace('{id}', String(id));

    test.each([
      ['no token', {}, 'Authorization token required'],
      ['an empty token', { Authorization: '' }, 'Authorization token required'],
      ['no JWT', { Authorization: 'nonsense' }, 'Invalid token'],
      ['a scheme', { Authorization: `Bearer ${validToken}` }, 'Invalid token'],
      ['a foreign token', { Authorization: forgeToken({ secret: 'other' }) }, 'Invalid token'],
      [
        'an expired token',
        { Authorization: forgeToken({ claims: { exp: 1 }, secret: settings.SECRET_TOKEN }) },
        'Invalid token',
      ],
    ])('%s: 401 before anything else, and nothing is carried out', async (_name, headers, message) => {
      const before = await readAll();

      for (const body of [null, '{', '{"title":"changed"}']) {
        expect(await service.call(method, requested(), { headers, body })).toEqual(failed(401, message));
      }

      expect(await readAll()).toEqual(before);
    });

    test('without a storage: 503 with Retry-After and never a false 404', async () => {
      service.proxy.disturb({ fault: 'request lost' });

      expect(await send(method, requested(), { body: { title: 'x' } })).toEqual(
        failed(503, 'Service unavailable'),
      );

      expect(service.log.lines.at(-1)).toMatchObject({
        level: 'ERROR',
        status: 503,
        error: { name: 'StorageUnavailableError', cause: { name: 'AttemptError' } },
      });
    });
  },
);

test.each([null, '{', '[]', '{"title":1}', '{"title":"x","year":1.5}'])(
  'the body %j: 400, or 404 without the book; nothing is stored and no id is drawn',
  async (body) => {
    const before = await readAll();

    expect(await send('POST', '/book', { body })).toEqual(invalidInput);
    expect(await send('PUT', path, { body })).toEqual(invalidInput);
    expect(await send('PUT', '/book/999999', { body })).toEqual(bookNotFound);

    expect(await readAll()).toEqual(before);
    expect(await readCounter(service.table)).toBe(id);
  },
);

test.each(['abc', '0', '-1', '01', '1.0', '1e0', '+1', '9007199254740992', ' 1', '1 ', '%31', ''])(
  'the id %j: 404 without a request to the database',
  async (text) => {
    const before = service.proxy.operations().map((name) => service.proxy.countRequests(name));

    for (const [method, body] of [['GET'], ['PUT', '{"title":"x"}'], ['DELETE']] as const) {
      expect(await send(method, `/book/${text}`, { body }), method).toEqual(bookNotFound);
    }

    expect(service.proxy.operations().map((name) => service.proxy.countRequests(name))).toEqual(before);
  },
);

describe('preconditions', () => {
  test('the checks come in the order 401, 404, 400, 413, 412', async () => {
    const headers = { 'If-Match': '"x"' };
    const ask = async (resource: string, body: unknown) =>
      (await send('PUT', resource, { headers, body })).status;
    const missing = '/book/999999';

    expect((await service.call('PUT', path, { headers, body: '{' })).status).toBe(401);
    expect(await Promise.all([{ year: 'x' }, tooLarge, {}].map((body) => ask(missing, body)))).toEqual([
      404, 404, 404,
    ]);
    expect(
      await Promise.all([{ year: 'x' }, tooLarge, {}, { year: 1 }].map((body) => ask(path, body))),
    ).toEqual([400, 413, 412, 412]);
  });
});

describe('Idempotency-Key', () => {
  const post = (key: string, body: unknown) =>
    send('POST', '/book', { headers: { 'Idempotency-Key': key }, body });

  test('a replay is marked; refusals come in the order 401, 400, 400, 413, 422', async () => {
    const first = await post('k', emma);

    expect(first.headers).toEqual({ ...json, ETag: expect.any(String) });
    expect(await post('k', { year: 1815.0, author: emma.author, title: emma.title, isbn: 'x' })).toEqual({
      ...first,
      headers: { ...first.headers, 'Idempotency-Replayed': 'true' },
    });
    const withoutToken = { headers: { 'Idempotency-Key': '' }, body: '{' };
    expect((await service.call('POST', '/book', withoutToken)).status).toBe(401);
    expect(await post('', { year: 'x' })).toEqual(invalidInput);
    expect(await post('a b', tooLarge)).toEqual(failed(400, 'Invalid idempotency key'));
    expect(await post('k', tooLarge)).toEqual(failed(413, 'Payload too large'));
    expect(await post('k', {})).toEqual(failed(422, 'Idempotency key already used'));
    // A key that was refused is not used.
    expect(await post('new', tooLarge)).toEqual(failed(413, 'Payload too large'));
    expect((await post('new', {})).status).toBe(201);
  });
});

test('a counter that was reset: 500 without details, which are in the log', async () => {
  await setCounter(service.table, id - 1);
  const before = await readAll();

  expect(await send('POST', '/book', { body: { title: 'x' } })).toEqual(failed(500, 'Internal server error'));

  expect(await readAll()).toEqual(before);
  expect(service.log.lines.at(-1)).toMatchObject({ level: 'ERROR', error: { name: 'IdTakenError' } });
});

describe('a function instance', () => {
  afterEach(() => {
    vi.stubEnv('DB_URL', service.table.url);
    vi.stubEnv('SECRET_TOKEN', settings.SECRET_TOKEN);
  });

  test.each(['create-book', 'list-books', 'get-book', 'update-book', 'delete-book'])(
    '%s does not load without its settings, its table or its storage, and loads once they are there',
    async (name) => {
      const load = (setting: string, value: string) => {
        vi.stubEnv(setting, value);
        vi.resetModules();
        return import(`../../handlers/${name}.ts`);
      };

      await expect(load('SECRET_TOKEN', '')).rejects.toThrow('SECRET_TOKEN is empty');
      vi.stubEnv('SECRET_TOKEN', settings.SECRET_TOKEN);
      await expect(load('DB_URL', 'books')).rejects.toThrow('DB_URL is not the URL');
      const missing = service.table.url.replace(/[^/]*$/, 'no-such-table');
      await expect(load('DB_URL', missing)).rejects.toThrow('the table "no-such-table" does not exist');
      const stopped = await startEngine();
      await stopped.stop();
      await expect(load('DB_URL', `${stopped.endpoint}/books`)).rejects.toThrow(
        /DynamoDB failed: .*ECONNREFUSED/,
      );
      await expect(load('DB_URL', service.table.url)).resolves.toHaveProperty('handler');
    },
  );
});
