import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { bookKey, claimKey, counterKey } from '../../lib/dynamodb/keys.ts';
import { findLastId, planRepair, raiseCounter } from '../../tools/operations/stored-counter.ts';
import { emma, listBooks, openBooks, readCounter, setCounter, storeBook } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const key = 'a key';
const tables = await useTables();
const client = new DynamoDB({ endpoint: tables.endpoint, region: 'us-east-1' });

/** Makes a table with the books 1 and 12,345 and the claim of a key, whose sort key is far above both. */
async function openDamaged(lastId?: unknown) {
  const table = await tables.open();
  await openBooks(table).create(emma, key);
  await storeBook(table, { id: 12_345, ...emma });
  const [TableName, Item] = [table.tableName, { ...counterKey, lastId }];
  if (lastId === undefined) await table.client.send(new DeleteCommand({ TableName, Key: counterKey }));
  else await table.client.send(new PutCommand({ TableName, Item }));
  return table;
}

test.each([
  ['missing', undefined],
  ['too low', 9],
  ['a text', '20000'],
  ['a negative number', -1],
])(
  'a counter that is %s is raised above the highest id of a book, and books are created and listed again',
  async (_, lastId) => {
    const table = await openDamaged(lastId);
    expect(claimKey(key).id).toBeGreaterThan(1_000_000_000);

    const { highestId, repairedId = 0 } = await planRepair(client, table.tableName);
    await raiseCounter(client, table.tableName, repairedId);

    expect([highestId, repairedId]).toEqual([12_345, 22_345]);
    const { book } = await openBooks(table).create(emma);
    expect(book.id).toBe(22_346);
    expect((await listBooks(table)).map(({ id }) => id)).toEqual([1, 12_345, 22_346]);
  },
);

test('the claim of a key has the id of a book that is deleted and gone', async () => {
  const table = await openDamaged();
  await setCounter(table, 30_000);
  await openBooks(table).create(emma, 'another key');
  await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: bookKey(30_001) }));
  await setCounter(table, 12_345);

  expect(await planRepair(client, table.tableName)).toEqual({
    lastId: 12_345,
    highestId: 30_001,
    repairedId: 40_001,
  });
});

test('a book under a key that no request reads does not count', async () => {
  const table = await openDamaged();
  const Item = { shard: 3, id: 900_000_000_000, ...emma };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

  expect((await planRepair(client, table.tableName)).highestId).toBe(12_345);
});

test('a counter at or above the highest id needs no repair, and is never lowered', async () => {
  const table = await openDamaged(12_345);
  expect((await planRepair(client, table.tableName)).repairedId).toBeUndefined();

  await setCounter(table, 1_000_000_000);
  const { lastId, repairedId } = await planRepair(client, table.tableName);
  await raiseCounter(client, table.tableName, 20_000);

  expect([lastId, repairedId]).toEqual([1_000_000_000, undefined]);
  expect(await readCounter(table)).toBe(1_000_000_000);
});

test('an id that an operator knows of counts, unless it is a million above the highest one', async () => {
  const table = await openDamaged(12_345);
  const plan = (atLeast: number) => planRepair(client, table.tableName, atLeast);

  expect((await plan(12_345)).repairedId).toBeUndefined();
  expect((await plan(12_346)).repairedId).toBe(22_345);
  expect((await plan(1_012_345)).repairedId).toBe(1_012_345);
  await expect(plan(1_012_346)).rejects.toThrow('The highest id in the table is 12345: --at-least may be 1012345.');
});

test('an empty table needs no counter', async () => {
  const { tableName } = await tables.open();

  expect(await planRepair(client, tableName)).toEqual({
    lastId: undefined,
    highestId: undefined,
    repairedId: undefined,
  });
});

test('the last id of a table whose counter is lost is the highest one in it', async () => {
  const [lost, kept] = [await openDamaged(), await openDamaged(20_000)];

  expect(await findLastId(client, lost.tableName)).toBe(12_345);
  expect(await findLastId(client, kept.tableName)).toBe(20_000);
});
