import { expect, test } from 'vitest';
import { tableFunctions } from '../../serverless/functions.ts';
import { emma } from '../support/book-table.ts';
import { useService } from '../support/fixtures.ts';
import { loadHandlers } from '../support/load-handlers.ts';

const service = await useService();

const malformedBodies = ['', '{', '[]', '{"title":1}', '{"title":"x","year":1.5}'];
const malformedIds = ['', 'abc', '0', '-1', '01', '1.0', '9007199254740992', '%31'];

test.each([
  ...malformedBodies.map((body) => ['POST', '/book', body, 400] as const),
  ...malformedIds.flatMap((id) =>
    ['GET', 'PUT', 'DELETE'].map((method) => [method, `/book/${id}`, emma, 404] as const),
  ),
])('%s %s with %j is refused without a request to the database', async (method, path, body, status) => {
  service.proxy.takeRequests();

  expect((await service.send(method, path, { body })).status).toBe(status);
  expect((await service.call(method, path, { body: '{' })).status).toBe(401);

  expect(service.proxy.takeRequests()).toEqual([]);
});

test('the function of POST /token loads without a table', async () => {
  await expect(loadHandlers('', ['POST /token'])).resolves.toBeTypeOf('function');
});

test.each(tableFunctions)(
  '$name does not load without its settings or its table, and loads once they are there',
  async ({ event: { method, path } }) => {
    const load = (databaseUrl: string) => loadHandlers(databaseUrl, [`${method} ${path}`]);
    const missing = service.table.url.replace(/[^/]*$/, 'no-such-table');

    await expect(load('')).rejects.toThrow('DB_URL is empty');
    await expect(load(missing)).rejects.toThrow('the table "no-such-table" does not exist');
    await expect(load(service.table.url)).resolves.toBeTypeOf('function');
  },
);
