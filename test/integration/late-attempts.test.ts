import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamoDBDocumentClient, GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, expect, vi } from 'vitest';
import { StorageUnavailableError } from '../../lib/books/errors.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { emma, listBooks, openBooks, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

// The delays between attempts take no time.
vi.mock(import('node:timers/promises'), { spy: true });

const tables = await useTables();
const test = base
  .extend('table', async () => {
    vi.mocked(sleep).mockResolvedValue(undefined);
    return tables.open();
  })
  .extend('others', ({ table }) => openBooks(table));

type Send = () => Promise<object>;

/** Opens the books for a client whose first requests of a kind take a course of their own. */
function openWith(
  { client, tableName }: TableAccess,
  kind: abstract new (...input: never[]) => object,
  course: (send: Send) => Promise<unknown>,
  times = 1,
) {
  let left = times;
  const send = (command: object, options: object) => {
    const forward = () => client.send(command as never, options);
    if (!(command instanceof kind) || left === 0) return forward();
    left -= 1;
    return course(forward);
  };
  return openBooks({ client: { send } as object as DynamoDBDocumentClient, tableName });
}

function lose(): never {
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

const minuteMs = 60_000;

test('an attempt that arrives late does not undo a later write, although the clock was set back between the attempts', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 60 * minuteMs);
  let late: Send = async () => ({});
  const update = openWith(table, UpdateCommand, async (send) => {
    late = send;
    clock.mockReturnValue(now + minuteMs);
    lose();
  });

  await update.update(1, { title: 'ours' });
  await others.update(1, { title: 'theirs' });

  await expect(late()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
  expect((await others.get(1)).book.title).toBe('theirs');
});

test('a response to an update that holds another version than the one written is not used', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const update = openWith(table, UpdateCommand, async (send) => {
    await send();
    await others.update(1, { year: 2 });
    // Of another request for the same book.
    return { Attributes: { shard: 0, id: 1, ...emma, year: 2, writeToken: (await others.get(1)).version } };
  });

  // The book as read has a later version: nobody can know whether this one was carried out before.
  await expect(update.update(1, { year: 1 })).rejects.toThrow('others changed the book');
});

test('a create with a key that is lost looks for its claim, and does not take an expired one for it', async ({
  table,
  others,
}) => {
  const weekMs = 7 * 24 * 60 * minuteMs;
  const now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now - weekMs - 1_000);
  await others.create(emma, 'key');
  clock.mockReturnValue(now);

  const created = await openWith(table, TransactWriteCommand, async () => lose()).create(emma, 'key');

  expect(created).toMatchObject({ book: { id: 2 }, replayed: false });
  expect((await listBooks(table)).map(({ id }) => id)).toEqual([1, 2]);
});

test('a response about another book is not used', async ({ table, others }) => {
  const { book } = await others.create(emma);
  await others.create({ ...emma, title: 'Persuasion' });
  const sendOther = () => table.client.send(new GetCommand({ TableName: table.tableName, Key: bookKey(2) }));

  expect((await openWith(table, GetCommand, sendOther).get(1)).book).toEqual(book);
  const failing = openWith(table, GetCommand, sendOther, 3).get(1);
  await expect(failing).rejects.toThrow(StorageUnavailableError);
});
