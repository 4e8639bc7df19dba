import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, describe, expect, vi } from 'vitest';
import { bookFields } from '../../lib/books/book.ts';
import { BookNotFoundError, VersionMismatchError } from '../../lib/books/errors.ts';
import { repairAdvice } from '../../lib/dynamodb/books/counter.ts';
import { CounterError, ItemTooLargeError } from '../../lib/dynamodb/connection/errors.ts';
import { bookKey, counterKey } from '../../lib/dynamodb/table/keys.ts';
import type { Kind } from '../../lib/fields.ts';
import { aBook } from '../support/a-book.ts';
import { emma, listBooks, openBooks, readCounter, setCounter, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

/** An item has at most 409,600 bytes with the names of its attributes, numbers of 21 bytes, and 100 of version and key. */
const bytesOf: Readonly<Record<Kind, (value: unknown) => number>> = {
  string: (value) => Buffer.byteLength(String(value)),
  integer: () => 21,
  boolean: () => 1,
};
const otherBytes = Object.entries(bookFields).map(([name, field]) => name.length + bytesOf[field.type](field.default));
const largest = 'x'.repeat(409_600 - 100 - otherBytes.reduce((total, bytes) => total + bytes));

/** More than half of an item. */
const half = 'x'.repeat(250_000);

const tables = await useTables();
const test = base.extend('table', () => tables.open()).extend('books', ({ table }) => openBooks(table));

/** Stores attributes under the id 1, as another program would. */
const putItem = ({ client, tableName }: TableAccess, attributes: object) =>
  client.send(new PutCommand({ TableName: tableName, Item: { ...bookKey(1), ...attributes } }));

test('items and the counter have the keys and attributes that they always had', async ({ table, books }) => {
  const read = async (Key: Record<string, number>) =>
    (await table.client.send(new GetCommand({ TableName: table.tableName, Key }))).Item;

  const { version } = await books.create(emma);
  await books.create(emma);

  expect(await read({ shard: 0, id: 1 })).toEqual({ shard: 0, id: 1, ...emma, version });
  expect(await read({ shard: -1, id: 0 })).toEqual({ shard: -1, id: 0, lastId: 2 });
});

test('a deletion leaves a tombstone for three days: its key and its version, and nothing of the book', async ({
  table: { client, tableName },
  books,
}) => {
  const { version = '' } = await books.create(emma);
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now);

  await books.delete(1);

  const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: bookKey(1) }));
  expect(item).toEqual({
    ...bookKey(1),
    version: expect.stringMatching(/^[0-9a-f-]{36}$/),
    // For a request that is held for a day, a clock that is a day behind, and time to live by one that is a day ahead.
    expiresAt: Math.floor(now / 1000) + 3 * 24 * 60 * 60,
  });
  expect(item?.version).not.toBe(version);
});

test('creates at once get the ids without gaps', async ({ table, books }) => {
  const created = await Promise.all(Array.from({ length: 20 }, () => books.create(emma)));

  const ids = created.map(({ book }) => book.id).sort((one, other) => one - other);
  expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(await readCounter(table)).toBe(20);
});

test('a change that is too large and names another version is too large, and one that fits is for another version', async ({
  books,
}) => {
  const { version = '' } = await books.create({ ...emma, title: half });
  await books.update(1, { year: 1 });

  for (const versions of [[version], [version, 'x']]) {
    await expect(books.update(1, { author: half }, versions)).rejects.toThrow(ItemTooLargeError);
    await expect(books.update(1, { author: 'x' }, versions)).rejects.toThrow(VersionMismatchError);
  }
});

test('the largest book can be stored and changed; one byte more draws no id', async ({ table, books }) => {
  await expect(books.create(aBook({ title: largest, author: 'x' }))).rejects.toThrow(ItemTooLargeError);
  expect(await readCounter(table)).toBeUndefined();

  await books.create(aBook({ title: largest }));
  const { book } = await books.update(1, { year: Number.MIN_SAFE_INTEGER });

  expect(book).toEqual({ id: 1, ...aBook({ title: largest, year: Number.MIN_SAFE_INTEGER }) });
  expect(await books.update(1, { title: '' })).toMatchObject({ book: { ...book, title: '' } });
});

test('a larger book of another program can be read and deleted, and not changed', async ({ table, books }) => {
  const title = largest + 'x'.repeat(50);
  await putItem(table, aBook({ title }));

  expect((await books.get(1)).book.title).toBe(title);
  await expect(books.update(1, { year: 1 })).rejects.toThrow(ItemTooLargeError);
  await books.delete(1);
});

test.for<[string, object]>([
  ['a version of another program', { version: 'q83vEjRWeJCrze8S' }],
  ['no version', {}],
])('a book with %s takes ten updates at once and a deletion', async ([, attributes], { table, books }) => {
  await putItem(table, { ...emma, ...attributes });

  await Promise.all(Array.from({ length: 10 }, (_, year) => books.update(1, { year })));

  const { book, version } = await books.get(1);
  expect(book).toEqual({ id: 1, ...emma, year: book.year });
  expect(version).toMatch(/^[0-9a-f-]{36}$/);
  await books.delete(1);
  await expect(books.get(1)).rejects.toThrow(BookNotFoundError);
  await expect(books.delete(1)).rejects.toThrow(BookNotFoundError);
});

test('a book without a field has its default, in single reads and in lists', async ({ table, books }) => {
  await setCounter(table, 1);
  await putItem(table, { title: 'Emma', version: 'x' });

  const book = { id: 1, ...aBook({ title: 'Emma' }) };
  expect((await books.get(1)).book).toEqual(book);
  expect(await listBooks(table)).toEqual([book]);
});

test.for([
  ['no version', {}],
  ['a version that is no text', { version: 7 }],
] as const)(
  'a book with %s matches no version, and gets one when it is changed',
  async ([, attributes], { table, books }) => {
    await putItem(table, { ...emma, ...attributes });

    expect((await books.get(1)).version).toBeUndefined();
    await expect(books.update(1, { year: 1 }, [''])).rejects.toThrow(VersionMismatchError);
    await expect(books.update(1, { year: 1 }, ['a', 'b'])).rejects.toThrow(VersionMismatchError);
    await expect(books.update(1, {}, [''])).rejects.toThrow(VersionMismatchError);
    await expect(books.update(1, { year: 1 }, [])).rejects.toThrow(VersionMismatchError);
    await expect(books.delete(1, ['undefined'])).rejects.toThrow(VersionMismatchError);
    const { version = '' } = await books.update(1, { year: 1 });
    expect(await books.update(1, { year: 2 }, [version])).toMatchObject({ book: { year: 2 } });
  },
);

describe.for([undefined, 'once'])('with the idempotency key %s', (key) => {
  test('a create after a counter reset overwrites no book and says what to do', async ({ table, books }) => {
    const stored = [(await books.create(emma)).book, (await books.create(emma)).book];
    await setCounter(table, 0);

    const creating = books.create({ ...emma, year: 1 }, key);

    await expect(creating).rejects.toThrow(CounterError);
    await expect(creating).rejects.toThrow(`id 2, which a book has already: ${repairAdvice}`);
    expect(await listBooks(table)).toEqual(stored);
    expect(await books.create({ ...emma, year: 2 }, key)).toMatchObject({ book: { id: 3 }, replayed: false });
  });

  test('a create beside books whose counter is lost stores nothing, and makes no counter', async ({ table, books }) => {
    await books.create(emma);
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: counterKey }));

    await expect(books.create(emma, key)).rejects.toThrow('the table has items and no counter');

    expect(await readCounter(table)).toBeUndefined();
  });

  test('a create after the last id keeps the counter', async ({ table, books }) => {
    await setCounter(table, Number.MAX_SAFE_INTEGER);

    await expect(books.create(emma, key)).rejects.toThrow('the counter is at 2^53-1');

    expect(await readCounter(table)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
