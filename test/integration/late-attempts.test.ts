import { setTimeout as sleep } from 'node:timers/promises';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, expect, vi } from 'vitest';
import { StorageUnavailableError } from '../../lib/dynamodb/connection/errors.ts';
import { bookKey } from '../../lib/dynamodb/table/keys.ts';
import { emma, openBooks } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { openWithInterceptors } from '../support/table-by-request.ts';

// The delays between attempts take no time.
vi.mock(import('node:timers/promises'), { spy: true });

const tables = await useTables();
const test = base
  .extend('table', async () => {
    vi.mocked(sleep).mockResolvedValue(undefined);
    return tables.open();
  })
  .extend('others', ({ table }) => openBooks(table));

function lose(): never {
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

const minuteMs = 60_000;

test('a response to an update that holds another version than the one written is not used', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
    await send();
    await others.update(1, { year: 2 });
    // Of another request for the same book.
    return { Attributes: { shard: 0, id: 1, ...emma, year: 2, version: (await others.get(1)).version } };
  });

  // The book as read has a later version: nobody can know whether this one was carried out before.
  await expect(books.update(1, { year: 1 })).rejects.toThrow('others changed the book');
});

test('a response about another book is not used', async ({ table, others }) => {
  const { book } = await others.create(emma);
  await others.create({ ...emma, title: 'Persuasion' });
  const sendOther = () => table.client.send(new GetCommand({ TableName: table.tableName, Key: bookKey(2) }));
  const sendOtherShard = async () => ({ Item: { shard: 2, id: 1, ...emma, title: 'Of another shard' } });

  const { books } = openWithInterceptors(table, GetCommand, sendOther, sendOtherShard);
  expect((await books.get(1)).book).toEqual(book);
  const failing = openWithInterceptors(table, GetCommand, sendOther, sendOther, sendOther).books;
  await expect(failing.get(1)).rejects.toThrow(StorageUnavailableError);
});

test('a response to an update that calls the book deleted is not used', async ({ table, others }) => {
  await others.create(emma);
  const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
    const { Attributes: attributes } = (await send()) as { readonly Attributes?: object };
    return { Attributes: { ...attributes, expiresAt: 1 } };
  });

  expect((await books.update(1, { year: 1 })).book).toEqual({ id: 1, ...emma, year: 1 });
});

const loseRequest = async () => lose();

test.for([
  ['no version', undefined],
  ['a version of years ahead, which the client names', 'fffffffe-0000-7000-8000-000000000000'],
])('the request of an update can be lost where the book has %s', async ([, version], { table }) => {
  const Item = { ...bookKey(1), ...emma, ...(version && { version }) };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  const { books } = openWithInterceptors(table, UpdateCommand, loseRequest, loseRequest);
  const versions = version === undefined ? undefined : [version];

  expect((await books.update(1, { year: 1 }, versions)).book).toEqual({ id: 1, ...emma, year: 1 });
});

test('a lost update of a book without a version is not made again over a write that followed it', async ({
  table,
  others,
}) => {
  await table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...bookKey(1), ...emma } }));
  const now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
  let arrive = async (): Promise<unknown> => undefined;
  const { books } = openWithInterceptors(
    table,
    UpdateCommand,
    async (send) => {
      arrive = send;
      clock.mockReturnValue(now + 2 * minuteMs);
      lose();
    },
    async (send) => {
      await arrive();
      // The version of the second attempt is above theirs.
      clock.mockReturnValue(now + minuteMs);
      await others.update(1, { year: 2 });
      return send();
    },
  );

  await expect(books.update(1, { year: 1 })).rejects.toThrow('others changed the book');
  expect((await others.get(1)).book.year).toBe(2);
});

test('a write of others that may have replaced the first of two lost attempts makes the outcome unknown', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now + minuteMs);
  const { books } = openWithInterceptors(
    table,
    UpdateCommand,
    async () => {
      clock.mockReturnValue(now + 3 * minuteMs);
      lose();
    },
    async () => {
      clock.mockReturnValue(now + 2 * minuteMs);
      await others.update(1, { year: 2 });
      lose();
    },
  );

  await expect(books.update(1, { year: 1 })).rejects.toThrow('others changed the book');
});

test('a lost create whose id a book without a version has draws another', async ({ table, others }) => {
  const { books } = openWithInterceptors(table, PutCommand, async () => {
    await table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...bookKey(1), ...emma } }));
    lose();
  });

  expect((await books.create(emma)).book.id).toBe(2);
  expect((await others.get(1)).version).toBeUndefined();
});
