import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { test as base, expect } from 'vitest';
import { endpoints, tableEndpoints } from '../../serverless/endpoints.ts';
import { startEngine } from '../simulators/engine.ts';
import type { MeteredRequest } from '../simulators/faulty-proxy.ts';
import { aBook } from '../support/a-book.ts';
import { emma, listBooks, openBooks, openList, seedBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { useTables } from '../support/fixtures.ts';
import { type Call, loadHandlers } from '../support/load-handlers.ts';
import { testSettings, validToken } from '../support/local-service.ts';
import { openBySending } from '../support/table-by-request.ts';

/**
 * Each request to the database with its read units of 4 KB or write units of 1 KB, for a book of up to 1 KB. The engine
 * meters no transactions.
 */
const uses = [
  ['GET /book/1', '', 'GetItem 1'],
  ['PUT /book/1', '', 'UpdateItem 1'],
  ['PUT /book/1', 'If-Match', 'UpdateItem 1'],
  ['DELETE /book/1', 'If-Match', 'UpdateItem 1'],
  ['DELETE /book/2', '', 'UpdateItem 1'],
  ['POST /book', '', 'UpdateItem 1, PutItem 1'],
  ['POST /book', 'Idempotency-Key', 'UpdateItem 1, TransactWriteItems 0'],
  ['POST /book', 'Idempotency-Key', 'UpdateItem 1, TransactWriteItems 0'],
  ['POST /token', '', ''],
] as const;

const tables = await useTables(startEngine);
const test = base
  .extend('opened', () => tables.openThroughProxy({ metersCapacity: true }))
  .extend('table', ({ opened }) => opened.table)
  .extend('proxy', ({ opened }) => opened.proxy)
  .extend('list', ({ opened }) => openList(opened.proxied));

const unitsOf = (requests: readonly MeteredRequest[]) => requests.reduce((total, { units }) => total + units, 0);

test('no function asks for more than it has to, at its start and for a request', async ({ table, proxy }) => {
  captureLog();
  await seedBooks(table, 2);
  const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  // Each function with a table reads the counter when it starts.
  const readCounter = { operation: 'GetItem', units: 1 };
  expect(proxy.takeRequests()).toMatchObject(tableEndpoints.map(() => readCounter));

  const credentials = { username: testSettings.AUTH_USERNAME, password: testSettings.AUTH_PASSWORD };
  const body = JSON.stringify({ ...emma, ...credentials });
  let tag = '';
  for (const [route, header, use] of uses) {
    const [method = '', path = ''] = route.split(' ');

    const headers = { Authorization: validToken, [header]: header === 'If-Match' ? tag : 'once' };
    const response = await call(method, path, { headers, body });

    expect(response.status, route).toBeLessThan(300);
    tag = String(response.headers?.ETag ?? tag);
    const requests = proxy.takeRequests().map(({ operation, units }) => `${operation} ${units}`);
    expect(requests.join(', '), route).toBe(use);
  }
});

/** Requests that bring a function to send every command that it has; one with an empty object by default. */
const requestsOf: Readonly<Record<string, readonly Parameters<Call>[2][]>> = {
  listBooks: [{ queryStringParameters: null }, { queryStringParameters: { limit: '1' } }],
  updateBook: [{ body: '{"year":1}' }, { body: '{}' }, { body: '{' }],
};

test.each(endpoints)(
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
      for (const { operation } of proxy.takeRequests()) operations.add(operation);
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

test('a list reads its books once, and little more', async ({ table, proxy, list }) => {
  // More than a database page of 1 MB in each of two shards.
  const count = 2_400;
  await seedBooks(table, count, () => aBook({ title: 'x'.repeat(1_000) }), 8_801);
  const scan = { TableName: table.tableName, ReturnConsumedCapacity: 'TOTAL' } as const;
  const pages = await Array.fromAsync(paginateScan(table, scan));
  // A strongly consistent read takes twice the units of this one.
  const units = 2 * pages.reduce((total, page) => total + (page.ConsumedCapacity?.CapacityUnits ?? 0), 0);

  for (const after of [0, 9_000, 9_800]) {
    await list.readPage({ after }, 100);

    const requests = proxy.takeRequests();
    expect(requests).toEqual([expect.objectContaining({ operation: 'Query' })]);
    // A hundred books may be a little larger than others.
    expect(unitsOf(requests)).toBeLessThanOrEqual(Math.ceil((1.05 * 100 * units) / count));
  }

  for await (const _ of list.readAll({ after: 0 }));

  const requests = proxy.takeRequests();
  const shards = 2;
  expect(requests.filter(({ operation }) => operation === 'GetItem')).toHaveLength(1);
  expect(unitsOf(requests)).toBeLessThanOrEqual(units * 1.05 + shards + 1);
  expect(unitsOf(requests)).toBeGreaterThanOrEqual(units * 0.95);
});

test('a small list takes one Query and the counter', async ({ table, proxy, list }) => {
  await seedBooks(table, 3);

  for await (const _ of list.readAll({ after: 0 }));

  const operations = proxy.takeRequests().map(({ operation }) => operation);
  expect(operations.toSorted()).toEqual(['GetItem', 'Query']);
});
