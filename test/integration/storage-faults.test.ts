import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { publicEndpoint } from '../../lib/endpoint.ts';
import { startEngine } from '../simulators/engine.ts';
import { requestIgnored } from '../simulators/faults.ts';
import { createBookTable, emma, listBooks, openBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { expectUnavailable, useTables } from '../support/fixtures.ts';
import { createContext, createEvent } from '../support/load-handlers.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

/** Not every engine sends checksums: this is about the embedded one. */
const tables = await useTables(startEngine);

beforeEach(() => {
  captureLog();
});

/** Opens a table with one book. */
async function openTable() {
  const { table, proxy, proxied } = await tables.openThroughProxy();
  const books = openBooks(proxied);
  /** Another client, which reaches the engine directly. */
  const others = openBooks(table);
  await others.create(emma);
  return { table, proxy, books, others };
}

// Concurrent, since most of the time goes by in waiting for timeouts and backoff.
test.concurrent.each([
  ['the book and its claim', 'TransactWriteItems', 0],
  ['the id', 'UpdateItem', 0],
])('a create that got its 503 while it waited for %s does nothing after it', async (_name, operation, after) => {
  const { table, proxy, books, others } = await openTable();
  const config = { signingSecret: 'x', corsOrigin: undefined };
  const success = { status: 201, message: 'Book created successfully' };
  const create = publicEndpoint(config, success, async () => ({ data: (await books.create(emma, 'key')).book }));
  proxy.injectFault(operation, requestIgnored, 1, after);

  const { statusCode } = await create(createEvent(), createContext(1_000));
  const created = await others.create(emma, 'key');
  await others.delete(created.book.id);
  // An attempt without its timeout would have been retried by then.
  await wait(3_500);

  expect(statusCode).toBe(503);
  expect(proxy.countRequests(operation)).toBe(after + 1);
  expect((await listBooks(table)).map(({ id }) => id)).toEqual([1]);
  expect(await others.create(emma, 'key')).toEqual({ ...created, replayed: true });
});

test('an engine that is restarted at its address serves the same repository again', async () => {
  const path = await makeTemporaryFolder();
  const stopped = await startEngine(path);
  const { repository, client, tableName } = await createBookTable(stopped.endpoint);
  const created = await repository.create(emma);

  await stopped.stop();
  await expectUnavailable([repository.get(created.id), repository.create(emma)]);
  const restarted = await startEngine(path, stopped.port);

  expect(await repository.get(created.id)).toEqual(created);
  expect(await listBooks({ client, tableName })).toEqual([created]);
  await restarted.stop();
});
