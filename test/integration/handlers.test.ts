import { basename } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { functions } from '../../serverless/packaging/package-service.ts';
import { startEngine } from '../simulators/engine.ts';
import { emma, listBooks, setCounter } from '../support/book-table.ts';
import { useService } from '../support/fixtures.ts';
import { settings } from '../support/load-handlers.ts';

const service = await useService();
const { send } = service;

const json = { 'Content-Type': 'application/json' };

const failed = (status: number, message: string) => ({
  status,
  headers: { ...json, ...(status === 503 && { 'Retry-After': '1' }) },
  envelope: { status, message, data: null },
});

/** A book of the current test. */
let id: number;

beforeEach(async () => {
  ({ id } = await service.table.repository.create(emma));
});

/** Those that need the table. */
const endpoints = functions.filter(({ name }) => name !== 'createToken');

test.each(endpoints)(
  '$event.method $event.path without a storage responds with 503 and Retry-After, never with a false 404',
  async ({ event: { method, path } }) => {
    service.proxy.disturb({ fault: 'request lost' });

    expect(await send(method, path.replace(/\{\w+\}/, String(id)), { body: { title: 'x' } })).toEqual(
      failed(503, 'Service unavailable'),
    );

    expect(service.log.lines.at(-1)).toMatchObject({
      level: 'ERROR',
      status: 503,
      error: { name: 'StorageUnavailableError', cause: { name: 'AttemptError' } },
    });
  },
);

const requestsWithoutStorage = [
  ...['', '{', '[]', '{"title":1}', '{"title":"x","year":1.5}'].map(
    (body) => ['POST', '/book', body, 400] as const,
  ),
  ...['abc', '0', '-1', '01', '1.0', '1e0', '+1', '9007199254740992', ' 1', '1 ', '%31', ''].flatMap((text) =>
    ['GET', 'PUT', 'DELETE'].map((method) => [method, `/book/${text}`, emma, 404] as const),
  ),
];

test.each(requestsWithoutStorage)(
  '%s %s with %j: no request to the database',
  async (method, to, body, status) => {
    service.proxy.takeRequests();

    expect((await send(method, to, { body })).status).toBe(status);
    expect((await service.call(method, to, { body: '{' })).status).toBe(401);

    expect(service.proxy.takeRequests()).toEqual([]);
  },
);

test('a counter that was reset: 500 without details, which are in the log', async () => {
  await setCounter(service.table, id - 1);
  const before = await listBooks(service.table);

  expect(await send('POST', '/book', { body: { title: 'x' } })).toEqual(failed(500, 'Internal server error'));

  expect(await listBooks(service.table)).toEqual(before);
  expect(service.log.lines.at(-1)).toMatchObject({ level: 'ERROR', error: { name: 'IdTakenError' } });
});

describe('a function instance', () => {
  test.each(endpoints)(
    '$name does not load without its settings, its table or its storage, and loads once they are there',
    async ({ handler }) => {
      const name = basename(handler, '.handler');
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
