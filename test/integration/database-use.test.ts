import { test as base, expect } from 'vitest';
import { functions, tableFunctions } from '../../serverless/functions.ts';
import { emma, listBooks, openBooks, openList, seedBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { useTables } from '../support/fixtures.ts';
import { type Call, loadHandlers } from '../support/load-handlers.ts';
import { testSettings, validToken } from '../support/local-service.ts';
import { openBySending } from '../support/table-by-request.ts';

/** The requests of each endpoint to the database. */
const uses = [
  ['GET /book/1', '', 'GetItem'],
  ['PUT /book/1', '', 'GetItem, UpdateItem'],
  ['PUT /book/1', 'If-Match', 'GetItem, UpdateItem'],
  ['DELETE /book/1', 'If-Match', 'GetItem, UpdateItem'],
  ['DELETE /book/2', '', 'GetItem, UpdateItem'],
  ['POST /book', '', 'UpdateItem, PutItem'],
  ['POST /book', 'Idempotency-Key', 'UpdateItem, TransactWriteItems'],
  ['POST /book', 'Idempotency-Key', 'UpdateItem, TransactWriteItems'],
  ['POST /token', '', ''],
] as const;

const tables = await useTables();
const test = base
  .extend('opened', () => tables.openThroughProxy())
  .extend('table', ({ opened }) => opened.table)
  .extend('proxy', ({ opened }) => opened.proxy);

test('no function asks for more than it has to, at its start and for a request', async ({ table, proxy }) => {
  captureLog();
  await seedBooks(table, 2);
  const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  // Each function with a table reads the counter when it starts.
  expect(proxy.takeRequests()).toEqual(tableFunctions.map(() => 'GetItem'));

  const credentials = { username: testSettings.AUTH_USERNAME, password: testSettings.AUTH_PASSWORD };
  const body = JSON.stringify({ ...emma, ...credentials });
  let tag = '';
  for (const [route, header, use] of uses) {
    const [method = '', path = ''] = route.split(' ');

    const headers = { Authorization: validToken, [header]: header === 'If-Match' ? tag : 'once' };
    const response = await call(method, path, { headers, body });

    expect(response.status, route).toBeLessThan(300);
    tag = String(response.headers?.ETag ?? tag);
    expect(proxy.takeRequests().join(', '), route).toBe(use);
  }
});

/** Requests that bring a function to send every command that it has; one with an empty object by default. */
const requestsOf: Readonly<Record<string, readonly Parameters<Call>[2][]>> = {
  listBooks: [{ queryStringParameters: null }, { queryStringParameters: { limit: '1' } }],
  updateBook: [{ body: '{"year":1}' }, { body: '{}' }, { body: '{' }],
};

test.each(functions)(
  '$name sends the commands of its tableActions in serverless.yml, no more and no less',
  async ({ name, event: { method, path }, tableActions }) => {
    captureLog();
    const requests = requestsOf[name] ?? [{ body: '{}' }];
    const operations = new Set<string>();
    for (const book of [emma, undefined]) {
      const { table, proxy } = await tables.openThroughProxy();
      if (book !== undefined) await table.repository.create(book);
      const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`, [`${method} ${path}`]);
      const paths = new Set(['1', '404'].map((id) => path.replace('{id}', id)));
      const headers = { Authorization: validToken };
      const send = (to: string) => requests.map((request) => call(method, to, { headers, ...request }));
      await Promise.all([...paths].flatMap(send));
      for (const operation of proxy.takeRequests()) operations.add(operation);
    }

    expect([...operations].toSorted()).toEqual(tableActions?.toSorted());
  },
);

test('all reads are strongly consistent', async ({ table }) => {
  const reads = new Set<string>();
  const access = openBySending((command: { readonly input: { readonly ConsistentRead?: boolean } }, options: never) => {
    const { name } = command.constructor;
    if (/^(Get|Query|Scan)/.test(name)) reads.add(`${name}: ${command.input.ConsistentRead}`);
    return table.client.send(command as never, options);
  }, table.tableName);

  await openBooks(access).create(emma);
  await openBooks(access).get(1);
  await listBooks(access);
  await openList(access).readPage({ after: 0 }, 1);

  expect([...reads].toSorted()).toEqual(['GetCommand: true', 'QueryCommand: true', 'ScanCommand: true']);
});
