import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { NumberValueImpl as NumberValue } from '@aws-sdk/util-dynamodb';
import { test as base, expect, vi } from 'vitest';
import { repairAdvice } from '../../lib/dynamodb/books/counter.ts';
import { CounterError } from '../../lib/dynamodb/connection/errors.ts';
import { counterKey } from '../../lib/dynamodb/table/keys.ts';
import { emma, listBooks, openBooks, readCounter, setCounter, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { type Interceptor, openWithInterceptors } from '../support/table-by-request.ts';

// The delays between attempts take no time.
vi.mock(import('node:timers/promises'), { spy: true });

const tables = await useTables();
const test = base.extend('table', () => {
  vi.mocked(sleep).mockResolvedValue(undefined);
  return tables.open();
});

/** Opens the books for a client whose draws of ids meet an interceptor each, in turn. */
const openWith = (table: TableAccess, ...draws: readonly Interceptor[]) =>
  openWithInterceptors(table, UpdateCommand, ...draws);

test('a draw whose response is lost leaves a gap, and nothing is read', async ({ table }) => {
  await setCounter(table, 10);
  const { books, requests } = openWith(table, async (draw) => {
    await draw();
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });

  expect((await books.create(emma)).book.id).toBe(12);
  expect(requests).toEqual(['UpdateCommand', 'UpdateCommand', 'PutCommand']);
});

test('the first draw of a table may be lost', async ({ table }) => {
  const { books } = openWith(table, async () => {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });

  expect((await books.create(emma)).book.id).toBe(1);
});

test('a response that is not that of a draw gives no id', async ({ table }) => {
  await setCounter(table, 10);
  const respondWith = (lastId?: unknown) => async () => ({ Attributes: { lastId } });
  const { books } = openWith(table, respondWith(0), respondWith());

  expect((await books.create(emma)).book.id).toBe(11);
  const failing = openWith(table, respondWith(0), respondWith(), respondWith()).books.create(emma);
  // Its outcome is of no interest to the client: the log says that the database is down.
  const message = 'a stored item is damaged: the counter has no "lastId"';
  const cause = { name: 'OutcomeUnknownError' };
  await expect(failing).rejects.toMatchObject({ name: 'StorageUnavailableError', message, cause });
});

test.for([undefined, 'a key'])(
  'a response to a draw that is sent twice costs another draw, with the idempotency key %s',
  async (key, { table }) => {
    let first: object = {};
    const { books } = openWith(
      table,
      async (draw) => {
        first = await draw();
        return first;
      },
      async (draw) => {
        await draw();
        return first;
      },
    );
    await setCounter(table, 10);
    await books.create(emma);

    expect(await books.create(emma, key)).toMatchObject({ book: { id: 13 }, replayed: false });
  },
);

test.for([
  ['a text', '20000'],
  ['no value', undefined],
  ['below 0', -1],
  ['a fraction', 50_000.5],
  ['a whole number that is not exact', NumberValue.from('9007199254740993')],
])('a counter that is %s is reported at once, and is not changed', async ([, lastId], { table }) => {
  const Item = { ...counterKey, lastId };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  const { books, requests } = openWith(table);

  await expect(books.create(emma)).rejects.toThrow(CounterError);
  const { length } = requests;
  await expect(listBooks(table)).rejects.toThrow(`a whole number from 0 to 2^53-1: ${repairAdvice}`);

  expect(length).toBeLessThanOrEqual(2);
});

/** A request to a table that is empty, in which others then create something. */
const thenOthers = (act: () => Promise<unknown>): Interceptor => {
  return (send) =>
    send().finally(async () => {
      await act();
    });
};

test('a create that finds no counter reads it again when others have created the first book', async ({ table }) => {
  const createFirst = thenOthers(() => openBooks(table).create(emma));
  const { books } = openWithInterceptors(table, GetCommand, createFirst);

  expect((await books.create(emma)).book.id).toBe(2);
});

test('the first of two creates in an empty table makes the counter, and the other draws from it', async ({ table }) => {
  const { books } = openWith(
    table,
    thenOthers(() => openBooks(table).create(emma)),
  );

  expect((await books.create(emma)).book.id).toBe(2);
});

test('the highest id can be drawn', async ({ table }) => {
  const { books } = openWith(
    table,
    thenOthers(() => setCounter(table, Number.MAX_SAFE_INTEGER - 1)),
  );

  expect((await books.create(emma)).book.id).toBe(Number.MAX_SAFE_INTEGER);
  await expect(books.create(emma)).rejects.toThrow('the counter is at 2^53-1');
});

test('a counter that is lost between two attempts at a draw is not made again', async ({ table }) => {
  const { client, tableName } = table;
  const { books } = openWith(
    table,
    thenOthers(() => openBooks(table).create(emma)),
    async (draw) => {
      await client.send(new DeleteCommand({ TableName: tableName, Key: counterKey }));
      return draw();
    },
  );

  await expect(books.create(emma)).rejects.toThrow('the table has items and no counter: docs/incidents.md#');
  expect(await readCounter(table)).toBeUndefined();
});
