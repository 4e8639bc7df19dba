import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdTakenError,
  VersionMismatchError,
} from '../../lib/books/errors.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { aBook } from '../support/a-book.ts';
import { emma, listBooks, openBooks, readCounter, setCounter } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

/** An item has at most 409,600 bytes with the names of its attributes, numbers of 21 bytes and 220 of tokens and key. */
const otherBytes = Object.entries(aBook()).map(([name, value]) => name.length + (value === 0 ? 21 : 0));
const largest = 'x'.repeat(409_600 - 220 - otherBytes.reduce((total, bytes) => total + bytes));

const manyVersions = (count: number) => Array.from({ length: count }, (_, index) => `version ${index}`);

const tables = useTables();

/** Opens a table of the test's own, so that its ids begin at 1. */
async function openTable() {
  const { table, proxy, proxied } = await tables.openThroughProxy();
  return { table, proxy, books: openBooks(proxied) };
}

describe('create', () => {
  test('ids go up by one, are not used again after a deletion, and stay in the counter', async () => {
    const { table } = await openTable();

    await table.repository.create(emma);
    await table.repository.create(emma);
    await table.repository.delete(2);

    expect(await table.repository.create(emma)).toEqual({ id: 3, ...emma });
    expect(await readCounter(table)).toBe(3);
  });

  test('an item holds the fields, a write token and nothing else, where items always were', async () => {
    const { table } = await openTable();
    await table.repository.create(emma);

    const read = async (Key: Record<string, number>) =>
      (await table.client.send(new GetCommand({ TableName: table.tableName, Key }))).Item;

    expect(await read({ shard: 0, id: 1 })).toEqual({
      shard: 0,
      id: 1,
      ...emma,
      writeToken: expect.any(String),
    });
    expect(await read({ shard: -1, id: 0 })).toEqual({ shard: -1, id: 0, lastId: 1 });
  });

  test('a book as large as any is stored, and can still be changed', async () => {
    const { table } = await openTable();
    const { id } = await table.repository.create(aBook({ title: largest }));

    const updated = await table.repository.update(id, { year: Number.MIN_SAFE_INTEGER });

    expect(updated).toEqual({ id, ...aBook({ title: largest, year: Number.MIN_SAFE_INTEGER }) });
    expect(await table.repository.update(id, { title: '' })).toEqual({ ...updated, title: '' });
  });

  test('a book of one byte more is refused, and draws no id', async () => {
    const { table } = await openTable();
    const fields = aBook({ title: largest, author: 'x' });

    await expect(table.repository.create(fields)).rejects.toThrow(BookTooLargeError);

    expect(await readCounter(table)).toBeUndefined();
  });

  test('a counter that was reset overwrites no book, and the error says what to do', async () => {
    const { table } = await openTable();
    const first = await table.repository.create(emma);
    await setCounter(table, 0);

    const creating = table.repository.create({ ...emma, year: 1 });

    await expect(creating).rejects.toThrow(IdTakenError);
    await expect(creating).rejects.toThrow('id 1, which a book has already: set its lastId to the highest');
    expect(await listBooks(table)).toEqual([first]);
  });
});

describe('versions', () => {
  test('a book that was stored by other means has none until it is changed', async () => {
    const { table, books } = await openTable();
    const Item = { ...bookKey(1), ...emma };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

    expect((await books.get(1)).version).toBeUndefined();
    await expect(books.update(1, { year: 1 }, [''])).rejects.toThrow(VersionMismatchError);
    await expect(books.delete(1, ['undefined'])).rejects.toThrow(VersionMismatchError);
    const { version = '' } = await books.update(1, { year: 1 });
    expect(await books.update(1, { year: 2 }, [version])).toMatchObject({ book: { year: 2 } });
  });

  test('the database compares them in the request of the write', async () => {
    const { table, proxy, books } = await openTable();
    const { version = '' } = await openBooks(table).create(emma);

    const updated = await books.update(1, { year: 1 }, [version]);
    await books.delete(1, [updated.version ?? '']);

    expect(proxy.takeRequests().map(({ operation }) => operation)).toEqual(['UpdateItem', 'UpdateItem']);
  });

  // 100 are what one condition of DynamoDB may name.
  test.each([1, 2, 100, 101, 1_000])('of %i versions, the book has one', async (count) => {
    const { books } = await openTable();
    const named = [...manyVersions(count - 1), (await books.create(emma)).version ?? ''];

    const updated = await books.update(1, { year: 1816 }, named);

    await expect(books.update(1, { year: 1817 }, named)).rejects.toThrow(VersionMismatchError);
    await expect(books.delete(1, named)).rejects.toThrow(VersionMismatchError);
    expect(await books.get(1)).toEqual(updated);
    expect(updated.book.year).toBe(1816);
    await books.delete(1, [...manyVersions(count - 1), updated.version ?? '']);
    await expect(books.get(1)).rejects.toThrow(BookNotFoundError);
  });

  test.each([
    ['none', []],
    ['an empty one', ['']],
    ['another one, twice', ['x', 'x']],
    ['100 others', manyVersions(100)],
    ['101 others', manyVersions(101)],
    ['10 KB in one', ['x'.repeat(10_000)]],
    ['syntax of expressions', [') OR attribute_exists(id', ':writeToken', '#title', '\xff']],
  ])('of %s, the book has none: nothing changes; a missing book is not found', async (_name, versions) => {
    const { books } = await openTable();
    const { book, version } = await books.create(emma);

    for (const [id, error] of [[1, VersionMismatchError] as const, [2, BookNotFoundError] as const]) {
      await expect(books.update(id, { title: 'x' }, versions)).rejects.toThrow(error);
      await expect(books.update(id, {}, versions)).rejects.toThrow(error);
      await expect(books.delete(id, versions)).rejects.toThrow(error);
    }
    expect(await books.get(1)).toEqual({ book, version });
  });

  test('of 20 updates and 20 deletions at once that name 200 versions and that of the book, one is carried out', async () => {
    const { books } = await openTable();
    const named = [...manyVersions(200), (await books.create(emma)).version ?? ''];

    const results = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, year) => books.update(1, { year }, named)),
      ...Array.from({ length: 20 }, () => books.delete(1, named)),
    ]);

    const refused = results.flatMap((result) => (result.status === 'rejected' ? result.reason.name : []));
    expect(refused).toHaveLength(39);
    for (const name of refused) expect(name).toMatch(/^(VersionMismatch|BookNotFound)Error$/);
  });
});
