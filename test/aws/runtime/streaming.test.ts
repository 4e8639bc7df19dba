import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import type { LambdaInstance } from '../../../tools/runtime/lambda-instance.ts';
import { type ProxyResponse, toHttpResponse } from '../../../tools/runtime/runtime-api.ts';
import { type FaultyProxy, storedText } from '../../simulators/faulty-proxy.ts';
import { aBook } from '../../support/a-book.ts';
import { type BookTable, seedBooks, setCounter, storeBook } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { settings, startFunction } from './start-function.ts';

/** Eleven shards, most of about 1 MB. */
const bookCount = 100_000;

/** 60 MB in five shards, several times the buffers of two sockets, and above the memory of the function. */
const largeBooks = { count: 150, everyId: 300, title: '書'.repeat(136_000) };

const { open, openThroughProxy } = await useTables();
let table: BookTable;
let proxy: FaultyProxy;
let instance: LambdaInstance;

beforeAll(async () => {
  ({ table, proxy } = await openThroughProxy());
  await seedBooks(table, bookCount);
});

beforeEach(() => startInstance(table.tableName));

afterEach(async () => {
  await instance.stop();
  await proxy.heal();
});

/** Starts the instance of the current test, and waits for the end of its INIT phase. */
async function startInstance(tableName: string): Promise<void> {
  instance = await startFunction('listBooks', { DB_URL: `${proxy.endpoint}/${tableName}` });
  await instance.api.initialized;
}

async function requestList(headers: Record<string, string> = {}): Promise<ProxyResponse> {
  const Authorization = forgeToken({ secret: settings.SECRET_TOKEN });
  const event = createEvent({ headers: { Authorization, ...headers } });
  return toHttpResponse(await instance.api.invoke(event));
}

describe('GET /books as a stream', () => {
  test('all books arrive, in order, in a body that any JSON parser reads', async () => {
    const { statusCode, headers, body } = await requestList();

    const { status, message, data } = JSON.parse((await buffer(body)).toString());
    expect({ statusCode, headers, status, message }).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', Vary: 'Accept-Encoding' },
      status: 200,
      message: 'Books retrieved successfully',
    });
    expect(data.map(({ id }: { id: number }) => id)).toEqual(
      Array.from({ length: bookCount }, (_, i) => i + 1),
    );
  });

  test('a storage that fails before the first book gets 503', async () => {
    proxy.injectFault('Query', 'server error', 1_000);

    const { statusCode, headers, body } = await requestList();

    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'Content-Type': 'application/json', 'Retry-After': '1' });
    expect(JSON.parse((await buffer(body)).toString())).toEqual({
      status: 503,
      message: 'Service unavailable',
      data: null,
    });
  });

  test.each(['identity', 'gzip', 'br', 'zstd'])(
    'a storage that fails later breaks the body off, in the encoding %s',
    async (encoding) => {
      const { statusCode, body } = await requestList({ 'Accept-Encoding': encoding });
      const received: Buffer[] = [];
      const read = async () => {
        for await (const chunk of body) {
          if (received.length === 0) proxy.injectFault('Query', 'server error', 1_000);
          received.push(chunk);
        }
      };

      await expect(read()).rejects.toThrow();
      expect(statusCode).toBe(200);
      expect(() => JSON.parse(Buffer.concat(received).toString())).toThrow();
      await expect.poll(() => requestLogs()).toMatchObject([{ level: 'ERROR', status: 200 }]);
      // The runtime prints every member of an error.
      expect(instance.output).not.toContain(storedText);

      await proxy.heal();
      const next = await requestList();
      expect(JSON.parse((await buffer(next.body)).toString()).data).toHaveLength(bookCount);
    },
  );

  test('a client that does not read stops the list as soon as the buffers are full', async () => {
    const large = await open();
    for (let number = 0; number < largeBooks.count; number += 1) {
      const id = number * largeBooks.everyId + 1;
      await storeBook(large, { id, ...aBook({ title: largeBooks.title }) });
    }
    await setCounter(large, largeBooks.count * largeBooks.everyId);
    await instance.stop();
    await startInstance(large.tableName);

    const earlier = proxy.countRequests('Query');
    const { body } = await requestList();
    const chunks = body[Symbol.asyncIterator]();
    const first = (await chunks.next()).value;
    let before = -1;
    while (before !== proxy.countRequests('Query')) {
      before = proxy.countRequests('Query');
      await sleep(1_000);
    }

    const rest = await buffer({ [Symbol.asyncIterator]: () => chunks });
    expect(JSON.parse(Buffer.concat([first, rest]).toString()).data).toHaveLength(largeBooks.count);
    expect(before - earlier).toBeLessThan((proxy.countRequests('Query') - earlier) / 2);
  });

  test('a function that cannot reach its table does not start', async () => {
    await instance.stop();
    await expect(startInstance('no-such-table')).rejects.toThrow('no-such-table');
  });

  test('a function whose table fails in the INIT phase says so, and prints nothing of a response', async () => {
    await instance.stop();
    proxy.injectFault('GetItem', 'server error', 1_000);

    await expect(startInstance(table.tableName)).rejects.toThrow('InternalServerError');

    await instance.waitForExit();
    expect(instance.output).toContain('InternalServerError');
    expect(instance.output).not.toContain(storedText);
  });
});

/** The service's own lines: the runtime has another format. */
function requestLogs(): readonly unknown[] {
  const lines = instance.output.split('\n').filter((line) => line.startsWith('{"timestamp"'));
  return lines.map((line) => JSON.parse(line));
}
