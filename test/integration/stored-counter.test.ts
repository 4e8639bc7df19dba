import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test, vi } from 'vitest';
import { BookNotFoundError } from '../../lib/books/errors.ts';
import { bookKey, claimKey, counterKey } from '../../lib/dynamodb/table/keys.ts';
import { maxLatenessSeconds } from '../../lib/dynamodb/table/lateness.ts';
import {
  checkAfterSwitch,
  closeGap,
  planCounter,
  raiseCounter,
  raiseForSwitch,
} from '../../tools/operations/stored-counter.ts';
import { findStoredIds } from '../../tools/operations/stored-ids.ts';
import { aBook } from '../support/a-book.ts';
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
  ['above 2^53-1', 9_007_199_254_740_993n],
  ['a fraction', 50_000.5],
])(
  'a counter that is %s is raised above the highest id of a book, and books are created and listed again',
  async (_, lastId) => {
    const table = await openDamaged(lastId);
    expect(claimKey(key).id).toBeGreaterThan(1_000_000_000);

    const { highestId, repairedId = 0 } = await planCounter(client, table.tableName);
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

  expect(await planCounter(client, table.tableName)).toMatchObject({
    lastId: 12_345,
    highestId: 30_001,
    repairedId: 40_001,
  });
});

test('a book under a key that no request reads does not count', async () => {
  const table = await openDamaged();
  const Item = { shard: 3, id: 900_000_000_000, ...emma };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

  expect((await planCounter(client, table.tableName)).highestId).toBe(12_345);
});

test('a counter at or above the highest id needs no repair, and is never lowered', async () => {
  const table = await openDamaged(12_345);
  expect((await planCounter(client, table.tableName)).repairedId).toBeUndefined();

  await setCounter(table, 1_000_000_000);
  const { lastId, repairedId } = await planCounter(client, table.tableName);
  await raiseCounter(client, table.tableName, 20_000);

  expect([lastId, repairedId]).toEqual([1_000_000_000, undefined]);
  expect(await readCounter(table)).toBe(1_000_000_000);
});

test('an id that an operator knows of counts, unless it is a million above the highest one', async () => {
  const table = await openDamaged(12_345);
  const plan = (atLeast: number) => planCounter(client, table.tableName, atLeast);

  expect((await plan(12_345)).repairedId).toBeUndefined();
  expect((await plan(12_346)).repairedId).toBe(22_345);
  expect((await plan(1_012_345)).repairedId).toBe(1_012_345);
  await expect(plan(1_012_346)).rejects.toThrow('The highest id in the table is 12345: --at-least may be 1012345.');
});

test('an empty table needs no counter', async () => {
  const { tableName } = await tables.open();

  expect(await planCounter(client, tableName)).toMatchObject({
    lastId: undefined,
    highestId: undefined,
    repairedId: undefined,
  });
});

test('a counter that others change all the time is not said to be repaired', async () => {
  const { tableName } = await openDamaged('a text');
  const getItem = vi.spyOn(client, 'getItem').mockImplementation((async () => ({ Item: {} })) as never);

  await expect(raiseCounter(client, tableName, 20_000)).rejects.toThrow(
    `The counter of ${tableName} could not be set to 20000: others change it at the same time.`,
  );
  getItem.mockRestore();
});

const far = 5_000_000_000;

/** Opens a table whose counter somebody has set far too high, and creates books with the ids after it. */
async function openWithGap(books: number) {
  const table = await openDamaged(far);
  for (let book = 1; book <= books; book += 1) await openBooks(table).create(aBook({ year: book }));
  const plan = async (atLeast = 0) => planCounter(client, table.tableName, atLeast);
  const close = async (onMove?: (...ids: [number, number]) => void, atLeast = 0) => {
    const { gap, loweredId, ...rest } = await plan(atLeast);
    if (gap === undefined || loweredId === undefined) throw new Error('no gap');
    return closeGap(client, table.tableName, { ...rest, gap, loweredId }, onMove);
  };
  return { table, plan, close };
}

test('a counter far above all books is lowered to above the ids that clients may hold', async () => {
  const { table, plan, close } = await openWithGap(0);
  expect((await plan()).gap).toEqual({ below: 12_345, above: far, books: 0 });

  expect(await close()).toBe(22_345);

  expect((await openBooks(table).create(emma)).book.id).toBe(22_346);
  expect((await plan()).gap).toBeUndefined();
});

test('every read of what a counter is set by is strongly consistent', async () => {
  const { close } = await openWithGap(2);
  const send = vi.spyOn(client, 'send');

  await close();

  const reads = send.mock.calls.filter(([command]) => /^(Get|Query|Scan)/.test(command.constructor.name));
  const weak = reads.filter(([{ input }]) => !('ConsistentRead' in input && input.ConsistentRead));
  expect([reads.length > 3, weak]).toEqual([true, []]);
});

test('an id that an operator knows of is not given again by a lowered counter', async () => {
  const { table, close } = await openWithGap(0);

  expect(await close(undefined, 700_000)).toBe(700_000);

  expect((await openBooks(table).create(emma)).book.id).toBe(700_001);
});

test('books above the gap are moved below it with new versions, and their old ids are those of deleted books', async () => {
  const { table, plan, close } = await openWithGap(2);
  const before = await openBooks(table).get(far + 2);
  const moved: [number, number][] = [];
  expect((await plan()).gap).toEqual({ below: 12_345, above: far + 1, books: 2 });
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000); // a clock that is behind

  expect(await close((...ids) => moved.push(ids))).toBe(22_347);

  expect(moved).toEqual([
    [far + 1, 22_346],
    [far + 2, 22_347],
  ]);
  const { book, version = '' } = await openBooks(table).get(22_347);
  expect(book).toEqual({ ...before.book, id: 22_347 });
  expect(version > String(before.version)).toBe(true);
  await expect(openBooks(table).get(far + 2)).rejects.toThrow(BookNotFoundError);
  const old = await table.client.send(new GetCommand({ TableName: table.tableName, Key: bookKey(far + 2) }));
  expect(old.Item?.expiresAt).toBe(Math.floor(Date.now() / 1000) + maxLatenessSeconds);
  await expect(openBooks(table).update(far + 2, { year: 1 })).rejects.toThrow(BookNotFoundError);
  expect((await listBooks(table)).map(({ id }) => id)).toEqual([1, 12_345, 22_346, 22_347]);
  expect((await openBooks(table).create(emma)).book.id).toBe(22_348);
});

test('a counter that was lowered needs no repair, although deleted books and claims have higher ids', async () => {
  const { table, plan, close } = await openWithGap(1);
  await openBooks(table).create(emma, 'another key');
  await close();

  expect(await plan()).toMatchObject({ lastId: 22_347, highestId: far + 2, repairedId: undefined });
  // Without a counter, nobody knows whether it was lowered.
  await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: counterKey }));
  expect(await plan()).toMatchObject({ repairedId: far + 10_002, loweredId: 32_347 });
});

test('a book of another program far above the counter is moved to an id that no new book gets', async () => {
  const { table, close } = await openWithGap(0);
  await setCounter(table, 30_000);
  await storeBook(table, { id: far, ...emma });
  const input = { TableName: table.tableName, Key: bookKey(far), UpdateExpression: 'REMOVE writeToken' };
  await table.client.send(new UpdateCommand(input));
  const counters: Promise<number | undefined>[] = [];

  expect(await close(() => counters.push(readCounter(table)))).toBe(30_001);

  // A create would draw the id that the counter has next, and find the book there.
  expect(await Promise.all(counters)).toEqual([30_001]);
  expect((await openBooks(table).create(emma)).book.id).toBe(30_002);
  expect((await openBooks(table).get(30_001)).book).toEqual({ id: 30_001, ...emma });
});

test('a counter is not lowered while books are created', async () => {
  const { table, close } = await openWithGap(1);
  const create = async () => void (await openBooks(table).create(emma));
  const transact = client.transactWriteItems.bind(client);
  const spy = vi.spyOn(client, 'transactWriteItems').mockImplementationOnce((async (input: never) => {
    await create();
    return transact(input);
  }) as never);

  await expect(close()).rejects.toThrow('The counter has not been lowered: books are created.');
  spy.mockRestore();
  expect((await listBooks(table, far - 1)).map(({ id }) => id)).toEqual([far + 2]);

  // The same command goes on.
  expect(await close()).toBe(32_347);
  expect((await listBooks(table)).map(({ id }) => id)).toEqual([1, 12_345, 22_346, 32_347]);
});

test('a book that is stored above the gap just before the counter is lowered is not hidden in silence', async () => {
  const { table, close } = await openWithGap(0);
  const update = client.updateItem.bind(client);
  const spy = vi.spyOn(client, 'updateItem').mockImplementationOnce((async (input: never) => {
    await storeBook(table, { id: far, ...emma });
    return update(input);
  }) as never);

  await expect(close()).rejects.toThrow('The counter is at 22345, and a book was created above it meanwhile.');
  spy.mockRestore();
});

test('a book is not moved to an id that another one has got meanwhile', async () => {
  const { table, close } = await openWithGap(1);
  const transact = client.transactWriteItems.bind(client);
  const spy = vi.spyOn(client, 'transactWriteItems').mockImplementationOnce((async (input: never) => {
    await storeBook(table, { id: 22_346, ...emma });
    return transact(input);
  }) as never);

  await expect(close()).rejects.toThrow(`Book ${far + 1} has been changed meanwhile, and was not moved.`);
  spy.mockRestore();
  expect((await openBooks(table).get(22_346)).book).toEqual({ id: 22_346, ...emma });
});

test('a book that is changed while it is moved keeps its id', async () => {
  const { table, close } = await openWithGap(1);
  const transact = client.transactWriteItems.bind(client);
  const spy = vi.spyOn(client, 'transactWriteItems').mockImplementationOnce((async (input: never) => {
    await openBooks(table).update(far + 1, { title: 'Persuasion' });
    return transact(input);
  }) as never);

  await expect(close()).rejects.toThrow(`Book ${far + 1} has been changed meanwhile, and was not moved.`);
  spy.mockRestore();
  expect((await openBooks(table).get(far + 1)).book.title).toBe('Persuasion');
  await expect(openBooks(table).get(22_346)).rejects.toThrow(BookNotFoundError);
});

test('a switch gives no id twice, whatever the table before gives until it ends, or says which', async () => {
  const [before, after] = [await openDamaged(30_000), await openDamaged(20_000)];
  const ids = await findStoredIds(client, before.tableName);
  const stored = { name: before.tableName, lastId: 30_000, ids };
  await setCounter(before, 40_050); // since it was read

  const raisedId = await raiseForSwitch(client, stored, after.tableName);

  expect(raisedId).toBe(540_050);
  await setCounter(before, raisedId);
  await checkAfterSwitch(client, before.tableName, after.tableName, raisedId);
  expect(await readCounter(after)).toBe(raisedId);
  await setCounter(before, raisedId + 7);
  await expect(checkAfterSwitch(client, before.tableName, after.tableName, raisedId)).rejects.toThrow(
    'Both tables may have given the ids from 540051 to 540057',
  );
  expect(await readCounter(after)).toBe(raisedId + 7);
});

test.each([
  ['is lost', undefined],
  ['is no number', 'a text'],
])('when the counter of the table before %s, a switch goes on far above the highest id in it', async (_, lastId) => {
  const [before, after] = [await openDamaged(lastId), await openDamaged(1)];
  const ids = await findStoredIds(client, before.tableName);

  expect(await raiseForSwitch(client, { name: before.tableName, lastId: undefined, ids }, after.tableName)).toBe(
    512_345,
  );
});
