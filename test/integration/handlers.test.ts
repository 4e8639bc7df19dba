import { expect, test } from 'vitest';
import { operations } from '../../conformance/contract/description.ts';
import { tableFunctions } from '../../serverless/functions.ts';
import { emma } from '../support/book-table.ts';
import { useService } from '../support/fixtures.ts';
import { createEvent, loadHandlers, startAnew } from '../support/load-handlers.ts';
import { validToken } from '../support/local-service.ts';

const service = await useService();

test.each([
  ['POST', '/book', '{"title":1}', 400],
  ['GET', '/book/01', emma, 404],
  ['PUT', '/book/01', emma, 404],
  ['DELETE', '/book/01', emma, 404],
] as const)('%s %s with %j is refused without a request to the database', async (method, path, body, status) => {
  service.proxy.takeRequests();

  expect((await service.send(method, path, { body })).status).toBe(status);
  expect((await service.call(method, path, { body: '{' })).status).toBe(401);

  expect(service.proxy.takeRequests()).toEqual([]);
});

// `zq` is in every value and in every name that is not ours.
const key = { 'Idempotency-Key': 'zq zq' };
test.each<[string, string, request: Parameters<typeof service.send>[2], status: number, reason?: string]>([
  ['POST', '/token', { body: { zq: 'zq', password: ['zq'] } }, 400, 'password'],
  ['POST', '/token', { body: '"zq"' }, 400, 'not a JSON object'],
  ['POST', '/book', { body: { zq: 1, title: 'zq', year: 'zq' } }, 400, 'year'],
  ['POST', '/book', { body: '{"zq' }, 400, 'not a JSON object'],
  ['POST', '/book', { body: { zq: 1 }, headers: key }, 400, 'Idempotency-Key'],
  ['GET', '/books?zq=zq&limit=zq', {}, 400, 'limit'],
  ['GET', '/books?zq=zq&year=zq', {}, 400, 'year'],
  ['GET', '/book/zq', {}, 404, 'id'],
  ['PUT', '/book/1', { body: { zq: 1, author: ['zq'] } }, 400, 'author'],
  ['PUT', '/book/9007199254740991', { body: { author: ['zq'] } }, 404],
  ['DELETE', '/book/9007199254740991', {}, 404],
])('%s %s with %j: the log of the %i has the reason %s, no value and no unknown name', async (...request) => {
  const [method, path, members, status, reason] = request;
  await service.send('POST', '/book', { body: emma });

  expect(await service.send(method, path, members)).toMatchObject({ status, envelope: { status, data: null } });

  expect(service.log.lines.at(-1)).toMatchObject({ level: 'INFO', status });
  expect(service.log.lines.at(-1)?.reason).toBe(reason);
  expect(service.log.text).not.toContain('zq');
});

// Other APIs of AWS send events without some of the members, and people send theirs with `aws lambda invoke`.
const withoutOne = Object.keys(createEvent()).map((name) => [`no ${name}`, { [name]: undefined }] as const);
test.each<readonly [string, object]>([
  ...withoutOne,
  ['no requestContext.path', { requestContext: {} }],
  ['the requestContext of an HTTP API', { requestContext: { http: { path: '/book' } } }],
])('a failure comes before anything is stored: an event with %s', async (_lack, members) => {
  const { headers } = await service.send('POST', '/book', { body: emma });
  const created = String(headers?.Location);
  for (const [method, path] of [
    ['POST', '/book'],
    ['PUT', created],
    ['DELETE', created],
  ] as const) {
    service.proxy.takeRequests();

    const headers = { Authorization: validToken };
    const { status } = await service.call(method, path, { headers, body: JSON.stringify(emma), ...members });

    if (status >= 500) expect(service.proxy.takeRequests()).toEqual([]);
  }
});

/** Makes an object that notes which of its members are read. */
function noteReads(members: Readonly<Record<string, string>>) {
  const names = new Set<string>();
  const values = new Proxy(members, {
    get(target, name: string) {
      names.add(name);
      return target[name];
    },
    ownKeys(target) {
      names.add('all of them');
      return Reflect.ownKeys(target);
    },
  });
  return { names, values };
}

test.each(operations)('$route reads the parameters that openapi.yaml describes, and no other', async (operation) => {
  const inPath = noteReads({ id: '1' });
  const inQuery = noteReads({ limit: '1' });

  await service.send(operation.method, operation.path, {
    body: '{}',
    pathParameters: inPath.values,
    queryStringParameters: inQuery.values,
    multiValueQueryStringParameters: inQuery.values as never,
  });

  const describedIn = (place: string) =>
    operation.parameters.flatMap((parameter) => (parameter.in === place ? parameter.name : []));
  expect([...inPath.names].toSorted()).toEqual(describedIn('path').toSorted());
  expect([...inQuery.names].toSorted()).toEqual(describedIn('query').toSorted());
});

test('the function of POST /token loads without a table', async () => {
  await expect(loadHandlers('', ['POST /token'])).resolves.toBeTypeOf('function');
});

test('the function of POST /token, which signs, warns of a weak secret when it loads', async () => {
  const settings = { SECRET_TOKEN: 'weak', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'engine' };
  startAnew(settings);

  await import('../../handlers/create-token.ts');

  expect(service.log.lines).toMatchObject([{ level: 'WARN', message: expect.stringContaining('SECRET_TOKEN') }]);
});

test.each(tableFunctions)(
  '$name does not load without its settings or its table, and loads once they are there',
  async ({ event: { method, path } }) => {
    const load = (databaseUrl: string) => loadHandlers(databaseUrl, [`${method} ${path}`]);
    const noSuchTable = service.table.url.replace(/[^/]*$/, 'no-such-table');

    await expect(load('')).rejects.toThrow('DB_URL is blank');
    await expect(load(noSuchTable)).rejects.toMatchObject({
      name: 'TableNotFoundError',
      message: 'the table "no-such-table" does not exist',
    });
    await expect(load(service.table.url)).resolves.toBeTypeOf('function');
  },
);
