import { DynamoDB, type PutItemCommandInput } from '@aws-sdk/client-dynamodb';
import { GetCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test, vi } from 'vitest';
import { BookNotFoundError } from '../../lib/books/errors.ts';
import { bookKey } from '../../lib/dynamodb/table/keys.ts';
import { createWriteToken } from '../../lib/dynamodb/table/write-token.ts';
import { bringBooksBack, compareBooks } from '../../tools/operations/stored-books.ts';
import {
  type BookTable,
  emma,
  listBooks,
  openBooks,
  readCounter,
  seedBooks,
  setCounter,
  storeBook,
} from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const tables = await useTables();
const client = new DynamoDB({ endpoint: tables.endpoint, region: 'us-east-1' });

/** Opens two tables with the same three books: the live one, and the restored one. */
async function openBoth() {
  const [live, restored] = await Promise.all([tables.open(), tables.open()]);
  await Promise.all([live, restored].map((table) => seedBooks(table, 3, () => emma)));
  return { live, restored };
}

interface Both {
  readonly live: BookTable;
  readonly restored: BookTable;
}

const namesOf = ({ live, restored }: Both) => ({ live: live.tableName, restored: restored.tableName });

const bringBack = async (tables: Both, ids: readonly number[]) =>
  (await bringBooksBack(client, namesOf(tables), { deleted: ids, changed: [] })).deleted;

const bringFieldsBack = async (tables: Both, ids: readonly number[]) =>
  (await bringBooksBack(client, namesOf(tables), { deleted: [], changed: ids })).changed;

async function readItem({ client, tableName }: BookTable, id: number) {
  return (await client.send(new GetCommand({ TableName: tableName, Key: bookKey(id) }))).Item;
}

test('the books that only the restored table has are found, and brought back under their ids', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).delete(1);
  await openBooks(live).update(2, { year: 1 });
  await openBooks(restored).delete(3);
  await storeBook(restored, { id: 12_345, ...emma });

  const found = await Array.fromAsync(compareBooks(client, namesOf({ live, restored }), [0, 1]));
  expect(found).toEqual([
    { same: 0, changed: [2], created: [3], deleted: [1] },
    { same: 0, changed: [], created: [], deleted: [12_345] },
  ]);
  expect(await bringBack({ live, restored }, [1, 12_345])).toBe(2);

  const books = [{ ...emma }, { ...emma, year: 1 }, { ...emma }, { ...emma }];
  expect(await listBooks(live)).toEqual(books.map((book, index) => ({ id: [1, 2, 3, 12_345][index], ...book })));
  expect((await openBooks(live).create(emma)).book.id).toBe(12_346);
});

test('every read of a comparison and of what it brings back is strongly consistent', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).delete(1);
  await openBooks(live).update(2, { year: 1 });
  const send = vi.spyOn(client, 'send');

  await Array.fromAsync(compareBooks(client, namesOf({ live, restored }), [0]));
  await bringBooksBack(client, namesOf({ live, restored }), { deleted: [1], changed: [2] });

  const reads = send.mock.calls.filter(([command]) => /^(Get|Query|Scan)/.test(command.constructor.name));
  const weak = reads.filter(([{ input }]) => !('ConsistentRead' in input && input.ConsistentRead));
  expect([reads.length > 5, weak]).toEqual([true, []]);
});

test('a book that clients stored or brought back meanwhile is left alone', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).update(1, { title: 'A newer title' });
  await openBooks(live).delete(2);
  await openBooks(restored).delete(3);
  expect(await bringBack({ live, restored }, [2])).toBe(1);
  const before = await live.client.send(new ScanCommand({ TableName: live.tableName }));

  expect(await bringBack({ live, restored }, [1, 2, 3])).toBe(0);

  expect(await live.client.send(new ScanCommand({ TableName: live.tableName }))).toMatchObject({ Items: before.Items });
});

test.each([
  ['a clock that is hours behind', -3_600_000],
  ['the right clock', 0],
])(
  'with %s, a book that comes back has a version above all before, so that a late write is refused',
  async (_, skew) => {
    const { live, restored } = await openBoth();
    const { version: before = '' } = await openBooks(live).get(1);
    const late = createWriteToken([before]);
    await openBooks(live).delete(1);
    const deleted = await readItem(live, 1);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + skew);

    await bringBack({ live, restored }, [1]);

    const item = await readItem(live, 1);
    expect(item).toEqual({ ...(await readItem(restored, 1)), writeToken: item?.writeToken });
    expect(item?.writeToken > deleted?.writeToken).toBe(true);
    expect(item?.writeToken > late).toBe(true);
  },
);

test('with a clock that is hours behind, a book of which nothing is left comes back with a later version', async () => {
  const { live, restored } = await openBoth();
  await storeBook(restored, { id: 4, ...emma });
  const { version = '' } = await openBooks(restored).get(4);
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);

  await bringBack({ live, restored }, [4]);

  expect(String((await openBooks(live).get(4)).version) > version).toBe(true);
});

test('a put that arrives late does not undo a second deletion', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).delete(1);
  // Between the read of the live table and the put, the book is brought back by somebody else, and deleted again.
  const putItem = vi.spyOn(client, 'putItem').mockImplementationOnce((async (input: PutItemCommandInput) => {
    await bringBack({ live, restored }, [1]);
    await openBooks(live).delete(1);
    return client.putItem(input);
  }) as typeof client.putItem);

  expect(await bringBack({ live, restored }, [1])).toBe(0);
  putItem.mockRestore();

  expect(await listBooks(live)).toHaveLength(2);
});

test('the counter of the live table is raised to the ids that come back, and is otherwise kept', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).delete(1);
  await bringBack({ live, restored }, [1]);
  expect(await readCounter(live)).toBe(3);

  await storeBook(restored, { id: 40_000, ...emma });
  await setCounter(restored, 40_000);
  await bringBack({ live, restored }, [40_000]);

  expect(await readCounter(live)).toBe(40_000);
});

test('a book without a token, of another program, comes back too', async () => {
  const { live, restored } = await openBoth();
  const input = { TableName: restored.tableName, Key: bookKey(2), UpdateExpression: 'REMOVE writeToken' };
  await restored.client.send(new UpdateCommand(input));
  await openBooks(live).delete(2);

  expect(await bringBack({ live, restored }, [2])).toBe(1);

  expect((await openBooks(live).get(2)).book).toEqual({ id: 2, ...emma });
});

test('a changed book gets its old fields and a new version, once', async () => {
  const { live, restored } = await openBoth();
  await openBooks(restored).update(1, { title: 'Persuasion' });
  const { version: before = '' } = await openBooks(live).update(1, { title: 'Wrong', year: 1 });
  const late = createWriteToken([before]);

  expect(await bringFieldsBack({ live, restored }, [1, 2])).toBe(1);

  const { book, version = '' } = await openBooks(live).get(1);
  expect(book).toEqual({ id: 1, ...emma, title: 'Persuasion' });
  expect(version > late).toBe(true);
  expect(await bringFieldsBack({ live, restored }, [1])).toBe(0);
  expect((await openBooks(live).get(1)).version).toBe(version);
});

test('a changed book that a client changes or deletes at the same time is left alone', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).update(1, { title: 'Wrong' });
  await openBooks(live).update(2, { title: 'Wrong' });
  const interfere = async (input: PutItemCommandInput) => {
    await openBooks(live).update(1, { title: 'A newer title' });
    await openBooks(live).delete(2);
    putItem.mockRestore();
    return client.putItem(input);
  };
  const putItem = vi.spyOn(client, 'putItem').mockImplementation(interfere as typeof client.putItem);

  expect(await bringFieldsBack({ live, restored }, [1])).toBe(0);
  expect(await bringFieldsBack({ live, restored }, [2])).toBe(0);

  expect((await openBooks(live).get(1)).book.title).toBe('A newer title');
  await expect(openBooks(live).get(2)).rejects.toThrow(BookNotFoundError);
});

test('a book that is deleted in both tables stays as it is, and so does one that the restored table never had', async () => {
  const { live, restored } = await openBoth();
  await openBooks(live).delete(1);
  await openBooks(restored).delete(1);
  const before = await readItem(live, 1);

  expect(await bringBack({ live, restored }, [1, 9])).toBe(0);
  expect(await bringFieldsBack({ live, restored }, [1, 9])).toBe(0);

  expect(await readItem(live, 1)).toEqual(before);
  expect(await readCounter(live)).toBe(3);
});

test('a changed book of another program, without a token, gets its old fields', async () => {
  const { live, restored } = await openBoth();
  const names = { ExpressionAttributeNames: { '#year': 'year' }, ExpressionAttributeValues: { ':year': 1 } };
  const input = { TableName: live.tableName, Key: bookKey(1), UpdateExpression: 'SET #year = :year REMOVE writeToken' };
  await live.client.send(new UpdateCommand({ ...input, ...names }));

  expect(await bringFieldsBack({ live, restored }, [1])).toBe(1);
  expect((await openBooks(live).get(1)).book).toEqual({ id: 1, ...emma });
});

test('a book that is over a million above the counter is not brought back: every list would take minutes', async () => {
  const { live, restored } = await openBoth();
  await storeBook(restored, { id: 1_000_004, ...emma });

  await expect(bringBack({ live, restored }, [1, 1_000_004])).rejects.toThrow(
    'Nothing was brought back: book 1000004 is over a million above the counter, 3.',
  );
  expect(await readCounter(live)).toBe(3);
});
