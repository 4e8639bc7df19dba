import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { serverError, storedText } from '../../fakes/faults.ts';
import { aBook } from '../../support/a-book.ts';
import { seedBooks, setCounter, storeBook } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { validToken } from '../../support/local-service.ts';
import type { LambdaInstance } from './lambda-instance.ts';
import type { FunctionResponse } from './runtime-api.ts';
import { startForTest } from './start-function.ts';

/** Eleven shards, most of about 1 MB. */
const bookCount = 100_000;

/** 60 MB in five shards, several times the buffers of two sockets, and above the memory of the function. */
const largeBooks = { count: 150, everyId: 300, title: '書'.repeat(136_000) };

const { open, openThroughProxy } = await useTables();
const { table, proxy } = await openThroughProxy();
await seedBooks(table, bookCount);

afterEach(() => proxy.heal());

const startList = (tableName: string) => startForTest('listBooks', { DB_URL: `${proxy.endpoint}/${tableName}` });

async function requestList(instance: LambdaInstance, coding = 'identity'): Promise<FunctionResponse> {
  const headers = { Authorization: validToken, 'Accept-Encoding': coding };
  return instance.api.invoke(createEvent({ headers }));
}

async function readIds(instance: LambdaInstance): Promise<readonly number[]> {
  const { data } = JSON.parse((await buffer((await requestList(instance)).body)).toString());
  return data.map(({ id }: { id: number }) => id);
}

test.each(['identity', 'gzip', 'br'])(
  'a storage that fails after the first bytes breaks the list off, in the coding %s; the next list is whole',
  async (coding) => {
    const instance = await startList(table.tableName);
    const { statusCode, body } = await requestList(instance, coding);
    const received: Buffer[] = [];
    const read = async () => {
      for await (const chunk of body) {
        if (received.length === 0) proxy.disturb({ fault: serverError, operations: ['Query'] });
        received.push(chunk);
      }
    };

    await expect(read()).rejects.toThrow();
    expect(statusCode).toBe(200);
    expect(() => JSON.parse(Buffer.concat(received).toString())).toThrow();
    // The service's own lines: the runtime has another format, in which it prints every member of an error.
    const readLog = () => instance.output.split('\n').filter((line) => line.startsWith('{"timestamp"'));
    await expect.poll(() => readLog().map((line) => JSON.parse(line))).toMatchObject([{ level: 'ERROR', status: 200 }]);
    expect(instance.output).not.toContain(storedText);

    await proxy.heal();
    expect(await readIds(instance)).toEqual(Array.from({ length: bookCount }, (_, index) => index + 1));
  },
);

test('a client that does not read stops the list as soon as the buffers are full', async () => {
  const large = await open();
  for (let number = 0; number < largeBooks.count; number += 1) {
    const id = number * largeBooks.everyId + 1;
    await storeBook(large, { id, ...aBook({ title: largeBooks.title }) });
  }
  await setCounter(large, largeBooks.count * largeBooks.everyId);
  const instance = await startList(large.tableName);
  await instance.api.initialized;

  const earlier = proxy.countRequests('Query');
  const { body } = await requestList(instance);
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

test('a function whose table fails in the INIT phase says so, and prints nothing of a response', async () => {
  proxy.disturb({ fault: serverError, operations: ['GetItem'] });
  const instance = await startList(table.tableName);

  await expect(instance.api.initialized).rejects.toThrow('InternalServerError');

  await instance.waitForExit();
  expect(instance.output).toContain('InternalServerError');
  expect(instance.output).not.toContain(storedText);
});
