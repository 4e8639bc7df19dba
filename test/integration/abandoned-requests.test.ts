import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { publicEndpoint } from '../../lib/endpoint.ts';
import { outcomes } from '../../lib/http/outcomes.ts';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { startFaultyProxy } from '../simulators/faulty-proxy.ts';
import { connect, createBookTable, emma, listBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { createContext, createEvent } from '../support/load-handlers.ts';

const key = 'the key';

/** Of the function's timeout; the 503 is sent a little earlier. */
const remainingMs = 1_000;

/** An attempt that was not given up would have been repeated by then. */
const longerThanAttemptMs = 3_500;

let engine: Engine;

beforeAll(async () => {
  captureLog();
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
  vi.restoreAllMocks();
});

test.concurrent.each([
  ['the book', { operation: 'PutItem', after: 1 }],
  ['the claim', { operation: 'PutItem', after: 0 }],
  ['the id', { operation: 'UpdateItem', after: 0 }],
])('a create that got its 503 while it waited for %s does nothing after it', async (_name, slow) => {
  const proxy = await startFaultyProxy(engine.endpoint);
  const table = await createBookTable(engine.endpoint);
  const repository = new BookRepository(connect(proxy.endpoint), table.tableName);
  const create = publicEndpoint(
    { signingSecret: 'x', corsOrigin: undefined },
    outcomes.bookCreated,
    async () => ({
      data: (await repository.create(emma, key)).book,
    }),
  );
  proxy.injectFault(slow.operation, 'no response', 1, slow.after);

  const { statusCode } = await create(createEvent(), createContext(remainingMs));
  const direct = new BookRepository(table.client, table.tableName);
  const { book } = await direct.create(emma, key);
  await direct.delete(book.id);
  await wait(longerThanAttemptMs);

  expect(statusCode).toBe(503);
  expect(proxy.countRequests(slow.operation)).toBe(slow.after + 1);
  expect(await listBooks(table)).toEqual([]);
  expect(await direct.create(emma, key)).toMatchObject({ book, replayed: true });
  await proxy.stop();
});
