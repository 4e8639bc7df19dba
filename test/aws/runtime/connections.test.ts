import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import type { LambdaInstance } from '../../../tools/runtime/lambda-instance.ts';
import { toHttpResponse } from '../../../tools/runtime/runtime-api.ts';
import { startEngine } from '../../simulators/engine.ts';
import { type Fault, startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { createBookTable, emma, seedBooks, setCounter } from '../../support/book-table.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { settings, startFunction } from './start-function.ts';

/** Longer than an idle connection is used again. */
const freezeMs = 21_000;

/** A function that waits for a dead connection takes an attempt's 2.8 s. */
const latencyLimitMs = 2_500;

/** Books in six shards, so that a list opens several connections. */
const bookCount = 60_000;

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };
const body = JSON.stringify(emma);
const toBook = (id: number) => ({ resource: '/book/{id}', pathParameters: { id: String(id) } });

/** Each function with the database: a request that it can repeat, and one after the freeze with its status. */
const calls = [
  { name: 'getBook', event: { httpMethod: 'GET', ...toBook(1) }, after: {}, status: 200 },
  { name: 'createBook', event: { httpMethod: 'POST', resource: '/book', body }, after: {}, status: 201 },
  { name: 'updateBook', event: { httpMethod: 'PUT', ...toBook(2), body }, after: {}, status: 200 },
  { name: 'deleteBook', event: { httpMethod: 'DELETE', ...toBook(3) }, after: toBook(99_999), status: 404 },
  {
    name: 'listBooks',
    event: { httpMethod: 'GET', resource: '/books' },
    after: { queryStringParameters: { limit: '10' } },
    status: 200,
  },
];

const opened: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Starts a database that the functions reach over HTTPS, with books. */
async function startDatabase(count: number) {
  const engine = await startEngine();
  const proxy = await startFaultyProxy(engine.endpoint, { isTls: true });
  opened.push(engine.stop, proxy.stop);
  const table = await createBookTable(engine.endpoint);
  await seedBooks(table, count);
  return { proxy, table };
}

/** Starts an instance, which trusts the certificate of the proxy. */
async function startInstance(name: string, endpoint: string, tableName: string) {
  const environment = { DB_URL: `${endpoint}/${tableName}`, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const instance = await startFunction(name, environment);
  opened.push(() => instance.stop());
  await instance.api.initialized;
  return instance;
}

async function invoke(instance: LambdaInstance, event: object) {
  const startedAt = performance.now();
  const response = await toHttpResponse(await instance.api.invoke(createEvent({ headers, ...event })));
  const { status, data } = JSON.parse((await buffer(response.body)).toString());
  return { status, data, tookMs: performance.now() - startedAt };
}

describe.each(['reset', 'closed', 'dead'] as const)(
  'after a freeze in which the database has %s its connections',
  (end) => {
    test('the first invocation of every function is right and at once', async () => {
      const { proxy, table } = await startDatabase(bookCount);
      const instances = await Promise.all(
        calls.map(({ name }) => startInstance(name, proxy.endpoint, table.tableName)),
      );
      for (const [index, { event }] of calls.entries())
        await invoke(instances[index] as LambdaInstance, event);

      for (const { pid } of instances) process.kill(pid, 'SIGSTOP');
      proxy.endConnections(end);
      await sleep(freezeMs);
      for (const { pid } of instances) process.kill(pid, 'SIGCONT');

      for (const [index, { name, event, after, status }] of calls.entries()) {
        const response = await invoke(instances[index] as LambdaInstance, { ...event, ...after });
        expect(response.status, name).toBe(status);
        expect(response.tookMs, name).toBeLessThan(latencyLimitMs);
      }
    });
  },
);

test('a list whose connections are closed gracefully, each with a request under way, is whole, and the instance lives', async () => {
  const { proxy, table } = await startDatabase(bookCount);
  const instance = await startInstance('listBooks', proxy.endpoint, table.tableName);

  for (let round = 0; round < 20; round += 1) {
    proxy.injectFault('Query', 'connection closed', 2, round % 4);
    const { status, data } = await invoke(instance, { httpMethod: 'GET', resource: '/books' });
    expect([status, data.length]).toEqual([200, bookCount]);
  }

  expect(instance.output).not.toContain('Uncaught');
});

describe.each([
  'head cut',
  'body missing',
  'response cut',
  'connection closed',
] as const satisfies readonly Fault[])('a response over HTTPS with the fault "%s"', (fault) => {
  test.each(calls)(
    'is invisible to the clients of $name, once and twice, and does not end its INIT phase',
    async ({ name, event }) => {
      const { proxy, table } = await startDatabase(10);
      proxy.disturb({ fault, attempts: 2 });
      const instance = await startInstance(name, proxy.endpoint, table.tableName);

      const { status, tookMs } = await invoke(instance, event);

      expect([200, 201]).toContain(status);
      expect(tookMs).toBeLessThan(latencyLimitMs);
    },
  );
});

test('a table that cannot be read during the INIT phase ends it with an error and a line that says why', async () => {
  const { proxy, table } = await startDatabase(1);
  await setCounter(table, 1);
  proxy.disturb({ fault: 'response cut' });
  const environment = { DB_URL: `${proxy.endpoint}/${table.tableName}`, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const instance = await startFunction('getBook', environment);
  opened.push(() => instance.stop());

  await expect(instance.api.initialized).rejects.toThrow(/DynamoDB failed/);
});
