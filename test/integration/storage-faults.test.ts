import { setTimeout as wait } from 'node:timers/promises';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { v7 } from 'uuid';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { BookNotFoundError, StorageUnavailableError, VersionMismatchError } from '../../lib/books/errors.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { publicEndpoint } from '../../lib/endpoint.ts';
import { outcomes } from '../../lib/http/outcomes.ts';
import { invocationSignal } from '../../lib/invocation-signal.ts';
import { startEngine } from '../simulators/engine.ts';
import type { FaultyProxy, WrongResponse } from '../simulators/faulty-proxy.ts';
import { createBookTable, emma, listBooks, openBooks, readCounter } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { expectUnavailable, useTables } from '../support/fixtures.ts';
import { createContext, createEvent } from '../support/load-handlers.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

/** Not every engine sends checksums: this is about the embedded one. */
const tables = await useTables(startEngine);

beforeEach(() => {
  captureLog();
});

type Fault = Parameters<FaultyProxy['injectFault']>[1];

/** Opens a table with one book, whose proxy injects a fault into some operations. */
async function openTable(fault?: Fault, times = 0, ...operations: readonly string[]) {
  const { table, proxy, proxied } = await tables.openThroughProxy();
  for (const operation of operations) proxy.injectFault(operation, fault as Fault, times);
  const books = openBooks(proxied);
  /** Another client, which reaches the engine directly. */
  const others = openBooks(table);
  const { book, version = '' } = await others.create(emma);
  return { table, proxy, proxied, books, others, book, version };
}

// Concurrent, since most of the time goes by in waiting for timeouts and backoff.
describe.concurrent('an attempt whose response is lost', () => {
  test.each([1, 2])('%i times: one book is stored', async (times) => {
    const { table, proxy, books, book } = await openTable('response lost', times, 'PutItem');

    const created = await books.create(emma);

    expect(created).toMatchObject({ book: { id: 2, ...emma }, replayed: false });
    expect(await listBooks(table)).toEqual([book, created.book]);
    expect(proxy.countRequests('PutItem')).toBe(1);
  });

  test('an id is a gap and nothing worse', async () => {
    const { table, books } = await openTable('response lost', 1, 'UpdateItem');

    expect((await books.create(emma)).book.id).toBe(3);
    expect((await books.create(emma)).book.id).toBe(4);
    expect(await readCounter(table)).toBe(4);
  });

  test.each([undefined, 'the version'])('an update, with %s, gives the changed book', async (condition) => {
    const { books, others, version } = await openTable('response lost', 2, 'UpdateItem');

    const updated = await books.update(1, { year: 1 }, condition ? [version] : undefined);

    expect(updated.book).toEqual({ id: 1, ...emma, year: 1 });
    expect(await others.get(1)).toEqual(updated);
  });

  test('an update of another version stays refused, and so does a deletion', async () => {
    const { books, others, version } = await openTable('response lost', 2, 'UpdateItem');

    await expect(books.update(1, { year: 2 }, ['x'])).rejects.toThrow();
    await expect(books.delete(1, ['x'])).rejects.toThrow(VersionMismatchError);

    expect(await others.get(1)).toMatchObject({ book: emma, version });
  });

  test.each([1, 2])('%i times: a deletion is done', async (times) => {
    const { table, proxy, books, others, version } = await openTable();
    const other = await others.create(emma);
    proxy.injectFault('UpdateItem', 'response lost', times);
    await expect(books.delete(1, [version])).resolves.toBeUndefined();
    proxy.injectFault('UpdateItem', 'response lost', times);
    await expect(books.delete(other.book.id)).resolves.toBeUndefined();

    expect(await listBooks(table)).toEqual([]);
    expect(proxy.countRequests('UpdateItem')).toBe(2);
  });

  test('a read is retried, also of a book that does not exist', async () => {
    const { proxy, proxied, books, book } = await openTable('response lost', 2, 'GetItem', 'Query');

    expect((await books.get(1)).book).toEqual(book);
    expect(await listBooks(proxied)).toEqual([book]);
    proxy.injectFault('GetItem', 'response lost', 1);
    await expect(books.get(9)).rejects.toThrow(BookNotFoundError);
  });
});

test.concurrent('a missing book is not found by an update or a deletion that was throttled before', async () => {
  const { proxy, books } = await openTable('throttled', 2, 'UpdateItem');

  await expect(books.update(7, { title: 'x' })).rejects.toThrow(BookNotFoundError);
  proxy.injectFault('UpdateItem', 'throttled', 2);
  await expect(books.delete(7)).rejects.toThrow(BookNotFoundError);
  expect(proxy.countRequests('UpdateItem')).toBe(6);
});

describe.concurrent('while a retry is under way, another client', () => {
  /** Starts an update that is carried out and whose response does not arrive, so that it is retried. */
  async function startUpdate(condition?: 'If-Match') {
    const opened = await openTable('response withheld', 1, 'UpdateItem');
    const updating = opened.books.update(1, { year: 1 }, condition && [opened.version]);
    updating.catch(() => {});
    await vi.waitFor(async () => expect((await opened.others.get(1)).book.year).toBe(1));
    return { ...opened, updating };
  }

  test.each([undefined, 'If-Match'] as const)(
    'changes the book (%s): its change stays',
    async (condition) => {
      const { others, updating } = await startUpdate(condition);
      const theirs = await others.update(1, { title: 'theirs' });

      expect(await updating).toEqual(theirs);
      expect(await others.get(1)).toEqual(theirs);
      expect(theirs.book).toEqual({ id: 1, ...emma, title: 'theirs', year: 1 });
    },
  );

  test.each([undefined, 'If-Match'] as const)(
    'changes it twice: nobody knows what became of an update (%s)',
    async (condition) => {
      const { others, updating } = await startUpdate(condition);
      await others.update(1, { title: 'a' });
      const theirs = await others.update(1, { title: 'b' });

      await expect(updating).rejects.toThrow(StorageUnavailableError);
      expect(await others.get(1)).toEqual(theirs);
    },
  );

  test('deletes the book: nobody knows whether the update came before', async () => {
    const { table, others, updating } = await startUpdate();
    await others.delete(1);

    await expect(updating).rejects.toThrow(StorageUnavailableError);
    expect(await listBooks(table)).toEqual([]);
  });

  test('changes the version that an update named, which was not carried out: the update is refused', async () => {
    const { proxy, books, others, version } = await openTable('no response', 1, 'UpdateItem');
    const updating = expect(books.update(1, { year: 1 }, [version])).rejects.toThrow(VersionMismatchError);
    await vi.waitFor(() => expect(proxy.countRequests('UpdateItem')).toBe(1));
    const theirs = await others.update(1, { year: 2 }, [version]);

    await updating;
    expect(await others.get(1)).toEqual(theirs);
  });

  test.each([1, 2])('changes the book of a create %i times: the changes stay', async (times) => {
    const { table, proxy, books, others, book } = await openTable('response withheld', 1, 'PutItem');
    const creating = books.create(emma).catch((error: Error) => error.name);
    await vi.waitFor(() => others.update(2, { title: 'theirs' }), { timeout: 2_000 });
    if (times === 2) await others.update(2, { author: 'theirs' });
    const theirs = await others.get(2);

    const created =
      times === 1 ? expect.objectContaining({ book: { id: 2, ...emma } }) : 'StorageUnavailableError';
    expect(await creating).toEqual(created);
    expect(await listBooks(table)).toEqual([book, theirs.book]);
    expect(proxy.countRequests('PutItem')).toBe(1);
  });
});

test.concurrent('a whole response without what was asked for is retried, and nothing is made up', async () => {
  const { proxy, proxied, books, book } = await openTable();
  const body = Buffer.from('{"Item":{},"Attributes":{},"Items":[{}],"Count":1}');
  const fault: WrongResponse = { bodyOf: () => body, checksum: 'right' };
  proxy.disturb({ fault, attempts: 1 });

  expect((await books.get(1)).book).toEqual(book);
  expect(await listBooks(proxied)).toEqual([book]);
  const { book: changed } = await books.update(1, { year: 1 });
  expect(changed).toEqual({ ...book, year: 1 });
  expect((await books.create(emma)).book).toEqual({ id: 3, ...emma });

  proxy.disturb({ fault });
  await expectUnavailable([
    books.create(emma),
    books.get(1),
    books.update(1, { year: 1 }),
    listBooks(proxied),
  ]);
});

test.concurrent('of 120 writes at once, each with a lost response, none says that its book is missing', async () => {
  const { proxy, books, others } = await openTable();
  const created = await Promise.all(Array.from({ length: 120 }, () => others.create(emma)));
  proxy.disturb({ fault: 'response lost', operations: ['UpdateItem'], attempts: 1 });

  const results = await Promise.allSettled(
    created.map(({ book: { id } }, index) => (index % 2 ? books.update(id, { year: 1 }) : books.delete(id))),
  );

  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
});

test.concurrent.each([
  'no response',
  'request lost',
  'response lost',
  'response cut',
  'server error',
] as const)(
  'an update and a deletion of another version, with the first attempt under "%s", change nothing and say so',
  async (fault) => {
    const { proxy, books, others, book } = await openTable();
    const { version: stale = '' } = await others.get(1);
    const current = await others.update(1, { year: 2 });
    for (const write of [() => books.update(1, { year: 3 }, [stale]), () => books.delete(1, [stale])]) {
      proxy.injectFault('UpdateItem', fault, 1);
      await expect(write()).rejects.toThrow(VersionMismatchError);
    }

    expect(await others.get(1)).toEqual(current);
    expect(current.book).toEqual({ ...book, year: 2 });
  },
);

test.concurrent('an attempt that arrives after its repetition was acknowledged, and others wrote, does nothing', async () => {
  const { proxy, books, others } = await openTable('request held', 1, 'UpdateItem');
  await books.update(1, { title: 'ours' });
  const theirs = await others.update(1, { author: 'theirs' });

  expect(await proxy.deliverHeld()).toBe(1);

  expect(await others.get(1)).toEqual(theirs);
});

test.concurrent.each(['update', 'delete'] as const)(
  'a late %s does nothing after a write that began after its deadline, also when a slow write has replaced that',
  async (operation) => {
    const { table, proxy, books, others } = await openTable('request held', 1, 'UpdateItem');
    const start = Date.now();
    await expectUnavailable([
      invocationSignal.run(AbortSignal.timeout(100), async () => {
        if (operation === 'delete') return books.delete(1);
        await books.update(1, { title: 'late' });
      }),
    ]);
    const tokens = {
      writeToken: v7({ msecs: start + 2_000 }),
      previousWriteToken: v7({ msecs: start + 60_000 }),
    };
    const Item = { ...bookKey(1), ...emma, ...tokens };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

    expect(await proxy.deliverHeld()).toBe(1);

    expect(await others.get(1)).toEqual({ book: { id: 1, ...emma }, version: tokens.writeToken });
  },
);

test.concurrent('a book that is not stored in three attempts is not there, and its id is a gap', async () => {
  const { table, books, book } = await openTable('server error', 3, 'PutItem');

  await expectUnavailable([books.create(emma)]);

  expect(await listBooks(table)).toEqual([book]);
  expect((await books.create(emma)).book.id).toBe(3);
});

test.concurrent.each([
  ['the book and its claim', 'TransactWriteItems', 0],
  ['the id', 'UpdateItem', 0],
])(
  'a create that got its 503 while it waited for %s does nothing after it',
  async (_name, operation, after) => {
    const { table, proxy, books, others } = await openTable();
    const config = { signingSecret: 'x', corsOrigin: undefined };
    const create = publicEndpoint(config, outcomes.bookCreated, async () => ({
      data: (await books.create(emma, 'key')).book,
    }));
    proxy.injectFault(operation, 'no response', 1, after);

    const { statusCode } = await create(createEvent(), createContext(1_000));
    const created = await others.create(emma, 'key');
    await others.delete(created.book.id);
    // An attempt without its timeout would have been retried by then.
    await wait(3_500);

    expect(statusCode).toBe(503);
    expect(proxy.countRequests(operation)).toBe(after + 1);
    expect((await listBooks(table)).map(({ id }) => id)).toEqual([1]);
    expect(await others.create(emma, 'key')).toEqual({ ...created, replayed: true });
  },
);

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
