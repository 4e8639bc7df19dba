import { createHash } from 'node:crypto';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, expect } from 'vitest';
import { CounterError } from '../../lib/books/errors.ts';
import type { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { claimKey } from '../../lib/dynamodb/keys.ts';
import { emma, listBooks, openBooks, setCounter, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const key = 'the key';

const tables = await useTables();
const test = base.extend('table', () => tables.open()).extend('books', ({ table }) => openBooks(table));

/** Opens a repository on whose requests `before` acts before they are sent. */
function openWith(
  { client, tableName }: TableAccess,
  before: (command: { readonly input: { readonly Key?: { readonly id?: number } } }) => unknown,
): BookRepository {
  const send = async (command: never) => {
    await before(command);
    return client.send(command);
  };
  return openBooks({ client: { send } as object as DynamoDBDocumentClient, tableName });
}

async function readClaim({ client, tableName }: TableAccess) {
  const command = new GetCommand({ TableName: tableName, Key: claimKey(key), ConsistentRead: true });
  return (await client.send(command)).Item;
}

async function changeClaim(table: TableAccess, changes: object): Promise<void> {
  const Item = { ...(await readClaim(table)), ...changes };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
}

const nowInSeconds = () => Math.floor(Date.now() / 1000);

test.for([0, 1])(
  'a create whose process died after %i requests has stored nothing',
  async (requests, { table, books }) => {
    let sent = 0;
    const dying = openWith(table, () => {
      if (sent === requests) throw new Error('the process ended');
      sent += 1;
    });
    await expect(dying.create(emma, key)).rejects.toThrow('the process ended');
    expect(await listBooks(table)).toEqual([]);

    const next = await books.create(emma, key);

    expect(next.replayed).toBe(false);
    expect(await listBooks(table)).toEqual([next.book]);
  },
);

test('a book that is deleted while another create has its key stays deleted', async ({ table, books }) => {
  const deleteOnce = async (command: unknown) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const { book } = await books.create(emma, key);
    await books.delete(book.id).catch(() => {});
  };

  const late = await openWith(table, deleteOnce).create(emma, key);

  expect(late.replayed).toBe(true);
  expect(await listBooks(table)).toEqual([]);
});

test('for 7 days a claim has what completes its create, and no text', async ({ table, books }) => {
  const before = nowInSeconds();
  const { book, version } = await books.create(emma, key);

  const { expiresAt, ...claim } = (await readClaim(table)) ?? {};
  expect(claim).toEqual({
    ...claimKey(key),
    bookId: 1,
    writeToken: version,
    // It has to stay the same when the table gets a field, also between others, for creates repeated across the deploy.
    fingerprint: createHash('sha256')
      .update('["the key",["author","Jane Austen"],["title","Emma"],["year",1815]]')
      .digest('base64url'),
  });
  expect(expiresAt - 7 * 86_400 - before).toBeGreaterThanOrEqual(0);
  expect(expiresAt - 7 * 86_400 - before).toBeLessThan(30);
  expect(await listBooks(table)).toEqual([book]);
});

test('an expired claim counts as absent, also for many creates at once', async ({ table, books }) => {
  await books.create(emma, key);
  await changeClaim(table, { expiresAt: nowInSeconds() + 60 });
  expect(await books.create(emma, key)).toMatchObject({ book: { id: 1 }, replayed: true });
  await changeClaim(table, { expiresAt: nowInSeconds() });

  const fields = { ...emma, year: 0 };
  const created = await Promise.all(Array.from({ length: 20 }, () => books.create(fields, key)));

  expect(new Set(created.map(({ book }) => book.id)).size).toBe(1);
  expect(created[0]?.book.id).not.toBe(1);
  expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await listBooks(table)).toHaveLength(2);
});

test('a drawn id was taken also when its book is deleted before it is read', async ({ table, books }) => {
  await books.create(emma);
  await setCounter(table, 0);
  const deleting = openWith(
    table,
    (command) => command instanceof GetCommand && command.input.Key?.id === 1 && books.delete(1),
  );

  await expect(deleting.create(emma)).rejects.toThrow(CounterError);
});
