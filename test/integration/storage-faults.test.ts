import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BookNotFoundError, StorageUnavailableError } from '../../lib/books/errors.ts';
import { verifyTable } from '../../lib/dynamodb/table.ts';
import { type Engine, provideEngine, startEngine } from '../simulators/engine.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../simulators/faulty-proxy.ts';
import { connect, createBookTable, emma, listBooks, openBooks, readCounter } from '../support/book-table.ts';

let engine: Engine;
const proxies: FaultyProxy[] = [];

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  await engine.stop();
});

/** Makes a table of the test's own and reaches it through a proxy of its own. */
async function openThroughProxy() {
  const proxy = await startFaultyProxy(engine.endpoint);
  proxies.push(proxy);
  // The table's own client reaches the engine directly.
  const table = await createBookTable(engine.endpoint);
  const proxied = { client: connect(proxy.endpoint), tableName: table.tableName };
  return { table, proxy, proxied, books: openBooks(proxied) };
}

// Concurrent, since most of the time goes by in waiting for time limits and for the pauses between attempts.
describe.concurrent('faults between the client and the engine', () => {
  describe('an answer that is lost once or twice', () => {
    test.each([1, 2])(
      'a book whose creation was answered %i times to nobody is stored once',
      async (times) => {
        const { table, proxy, books } = await openThroughProxy();
        proxy.injectFault('PutItem', 'response lost', times);

        const created = await books.create(emma);

        expect(created).toEqual({ id: 1, ...emma });
        expect(await listBooks(table)).toEqual([created]);
        expect(proxy.countRequests('PutItem')).toBe(times + 1);
      },
    );

    test('an id whose answer was lost is a gap and nothing worse', async () => {
      const { table, proxy, books } = await openThroughProxy();
      proxy.injectFault('UpdateItem', 'response lost', 1);

      const first = await books.create(emma);
      const second = await books.create(emma);

      expect([first.id, second.id]).toEqual([2, 3]);
      expect(await listBooks(table)).toEqual([first, second]);
      expect(await readCounter(table)).toBe(3);
    });

    test('an update gives the changed book', async () => {
      const { table, proxy, books } = await openThroughProxy();
      const { id } = await books.create(emma);
      proxy.injectFault('UpdateItem', 'response lost', 2);

      const updated = await books.update(id, { title: 'Persuasion' });

      expect(updated).toEqual({ id, ...emma, title: 'Persuasion' });
      expect(await listBooks(table)).toEqual([updated]);
    });

    test.each([1, 2])('a deletion that was answered %i times to nobody succeeds', async (times) => {
      const { table, proxy, books } = await openThroughProxy();
      const { id } = await books.create(emma);
      proxy.injectFault('DeleteItem', 'response lost', times);

      await expect(books.delete(id)).resolves.toBeUndefined();

      expect(await listBooks(table)).toEqual([]);
      expect(proxy.countRequests('DeleteItem')).toBe(times + 1);
    });

    test('an update that is sent again does not undo what another client has changed since', async () => {
      const { table, proxy, books } = await openThroughProxy();
      const { id } = await books.create(emma);
      proxy.injectFault('UpdateItem', 'response withheld', 1);

      const updating = books.update(id, { title: 'ours', year: 1 });
      await vi.waitFor(async () => expect((await table.repository.get(id)).title).toBe('ours'));
      const theirs = await table.repository.update(id, { title: 'theirs' });

      expect(theirs).toEqual({ id, title: 'theirs', author: emma.author, year: 1 });
      expect(await updating).toEqual(theirs);
      expect(await table.repository.get(id)).toEqual(theirs);
      expect(proxy.countRequests('UpdateItem')).toBe(3);
    });

    test('an update of a book that another client has deleted since finds no book', async () => {
      const { table, proxy, books } = await openThroughProxy();
      const { id } = await books.create(emma);
      proxy.injectFault('UpdateItem', 'response withheld', 1);

      const updating = expect(books.update(id, { title: 'ours' })).rejects.toThrow(BookNotFoundError);
      await vi.waitFor(async () => expect((await table.repository.get(id)).title).toBe('ours'));
      await table.repository.delete(id);

      await updating;
      expect(await listBooks(table)).toEqual([]);
    });

    test('a creation that is sent again does not undo what another client has changed since', async () => {
      const { table, proxy, books } = await openThroughProxy();
      proxy.injectFault('PutItem', 'response withheld', 1);

      const creating = books.create(emma);
      const theirs = await vi.waitFor(() => table.repository.update(1, { title: 'theirs' }), {
        timeout: 2_000,
      });

      expect(await creating).toEqual({ id: 1, ...emma });
      expect(await listBooks(table)).toEqual([theirs]);
      expect(proxy.countRequests('PutItem')).toBe(2);
    });

    test('reads are sent again', async () => {
      const { proxy, proxied, books } = await openThroughProxy();
      const created = await books.create(emma);
      proxy.injectFault('GetItem', 'response lost', 2);
      proxy.injectFault('Query', 'response lost', 2);

      expect(await books.get(created.id)).toEqual(created);
      expect(await listBooks(proxied)).toEqual([created]);
    });

    test('a book that does not exist is still not found by a read that was sent again', async () => {
      const { proxy, books } = await openThroughProxy();
      proxy.injectFault('GetItem', 'response lost', 1);

      await expect(books.get(1)).rejects.toThrow(BookNotFoundError);
    });
  });

  describe.each<Fault>(['request lost', 'server error', 'throttled'])(
    'a request that is not carried out: %s',
    (fault) => {
      test('twice, then every operation succeeds as if nothing had happened', async () => {
        const { table, proxy, proxied, books } = await openThroughProxy();
        const [kept, changed, deleted] = [
          await books.create(emma),
          await books.create(emma),
          await books.create(emma),
        ];
        for (const operation of ['UpdateItem', 'PutItem', 'GetItem', 'Query', 'DeleteItem']) {
          proxy.injectFault(operation, fault, 2);
        }

        const results = await Promise.all([
          books.create({ ...emma, title: 'new' }),
          books.get(kept.id),
          books.update(changed.id, { title: 'changed' }),
          books.delete(deleted.id),
          listBooks(proxied),
        ]);

        expect(results).toEqual([
          { id: 4, ...emma, title: 'new' },
          kept,
          { ...changed, title: 'changed' },
          undefined,
          expect.arrayContaining([kept]),
        ]);
        expect(await listBooks(table)).toEqual([kept, results[2], results[0]]);
      });

      test('three times, then the storage is unavailable, whatever was asked of it', async () => {
        const { table, proxy, proxied, books } = await openThroughProxy();
        const { id } = await books.create(emma);
        for (const operation of ['UpdateItem', 'GetItem', 'Query', 'DeleteItem']) {
          proxy.injectFault(operation, fault, 100);
        }

        await Promise.all([
          expect(books.create(emma)).rejects.toThrow(StorageUnavailableError),
          expect(books.get(id)).rejects.toThrow(StorageUnavailableError),
          expect(books.update(id, { title: 'x' })).rejects.toThrow(StorageUnavailableError),
          expect(books.update(id, {})).rejects.toThrow(StorageUnavailableError),
          expect(books.delete(id)).rejects.toThrow(StorageUnavailableError),
          expect(listBooks(proxied)).rejects.toThrow(StorageUnavailableError),
          expect(verifyTable(proxied.client, table.tableName)).rejects.toThrow(StorageUnavailableError),
        ]);

        expect(await listBooks(table)).toEqual([{ id, ...emma }]);
      });

      test('a book whose item is not stored in three attempts is not there, and its id is a gap', async () => {
        const { table, proxy, books } = await openThroughProxy();
        proxy.injectFault('PutItem', fault, 3);

        await expect(books.create(emma)).rejects.toThrow(StorageUnavailableError);

        expect(await listBooks(table)).toEqual([]);
        expect((await books.create(emma)).id).toBe(2);
      });
    },
  );

  test('a book that does not exist is not found by a deletion or an update that was throttled before', async () => {
    const { proxy, books } = await openThroughProxy();
    for (const operation of ['UpdateItem', 'DeleteItem']) proxy.injectFault(operation, 'throttled', 2);

    await expect(books.delete(7)).rejects.toThrow(BookNotFoundError);
    await expect(books.update(7, { title: 'x' })).rejects.toThrow(BookNotFoundError);

    expect(proxy.countRequests('DeleteItem')).toBe(3);
  });

  describe('an engine that hangs', () => {
    // Before the 10 s of a function are over, so that the function itself can answer.
    test.each<Fault>(['no response', 'response stalls'])(
      '%s: every operation ends as an unavailable storage within the time limits of the client',
      async (fault) => {
        const { table, proxy, proxied, books } = await openThroughProxy();
        const { id } = await books.create(emma);
        for (const operation of ['UpdateItem', 'PutItem', 'GetItem', 'Query', 'DeleteItem']) {
          proxy.injectFault(operation, fault, 100);
        }
        const startedAt = performance.now();

        const results = await Promise.all(
          [
            books.create(emma),
            books.get(id),
            books.update(id, { title: 'x' }),
            books.delete(id),
            listBooks(proxied),
            verifyTable(proxied.client, table.tableName),
          ].map((operation) => Promise.race([outcomeOf(operation), sleepUntilTooLate()])),
        );

        expect(results).toEqual(Array(6).fill('StorageUnavailableError'));
        expect(performance.now() - startedAt).toBeLessThan(10_000);
      },
    );

    test('an answer that comes at the second attempt is waited for', async () => {
      const { proxy, books } = await openThroughProxy();
      const created = await books.create(emma);
      proxy.injectFault('GetItem', 'no response', 1);

      expect(await books.get(created.id)).toEqual(created);
    });
  });

  describe('an engine that is stopped and started again at the same address', () => {
    test('the same repository reports it and then works on, with the books that were there', async () => {
      const path = await mkdtemp(join(tmpdir(), 'book-catalog-'));
      let restarted: Engine | undefined;
      try {
        const stopped = await startEngine({ path });
        const { repository, client, tableName } = await createBookTable(stopped.endpoint);
        const created = await repository.create(emma);

        await stopped.stop();
        await expect(repository.get(created.id)).rejects.toThrow(StorageUnavailableError);
        await expect(repository.create(emma)).rejects.toThrow(StorageUnavailableError);
        restarted = await startEngine({ path, port: stopped.port });

        expect(await repository.get(created.id)).toEqual(created);
        const next = await repository.create(emma);
        expect(await listBooks({ client, tableName })).toEqual([created, next]);
      } finally {
        await restarted?.stop();
        await rm(path, { recursive: true, force: true });
      }
    });
  });
});

function outcomeOf(operation: Promise<unknown>): Promise<string> {
  return operation.then(
    () => 'succeeded',
    (error: Error) => error.name,
  );
}

function sleepUntilTooLate(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  setTimeout(resolve, 9_900, 'still waiting').unref();
  return promise;
}
