import { createHash } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, expect } from 'vitest';
import { recordKey } from '../../lib/dynamodb/table/keys.ts';
import { emma, listBooks, openBooks, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const key = 'the key';

const tables = await useTables();
const test = base.extend('table', () => tables.open()).extend('books', ({ table }) => openBooks(table));

async function readRecord({ client, tableName }: TableAccess) {
  const command = new GetCommand({ TableName: tableName, Key: recordKey(key), ConsistentRead: true });
  return (await client.send(command)).Item;
}

async function changeRecord(table: TableAccess, changes: object): Promise<void> {
  const Item = { ...(await readRecord(table)), ...changes };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
}

const nowInSeconds = () => Math.floor(Date.now() / 1000);

test('for 10 days an idempotency record has what completes its create, and no text', async ({ table, books }) => {
  const before = nowInSeconds();
  const { book, version } = await books.create(emma, key);

  const { expiresAt, ...record } = (await readRecord(table)) ?? {};
  expect(record).toEqual({
    ...recordKey(key),
    bookId: 1,
    version,
    // It has to stay the same when the table gets a field, also between others, for creates repeated across the deploy.
    fingerprint: createHash('sha256')
      .update('["the key",["author","Jane Austen"],["title","Emma"],["year",1815]]')
      .digest('base64url'),
  });
  expect(expiresAt - 10 * 86_400 - before).toBeGreaterThanOrEqual(0);
  expect(expiresAt - 10 * 86_400 - before).toBeLessThan(30);
  expect(await listBooks(table)).toEqual([book]);
});

test('an expired idempotency record counts as absent, also for many creates at once', async ({ table, books }) => {
  await books.create(emma, key);
  await changeRecord(table, { expiresAt: nowInSeconds() + 60 });
  expect(await books.create(emma, key)).toMatchObject({ book: { id: 1 }, replayed: true });
  await changeRecord(table, { expiresAt: nowInSeconds() });

  const fields = { ...emma, year: 0 };
  const created = await Promise.all(Array.from({ length: 20 }, () => books.create(fields, key)));

  expect(new Set(created.map(({ book }) => book.id)).size).toBe(1);
  expect(created[0]?.book.id).not.toBe(1);
  expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await listBooks(table)).toHaveLength(2);
});
