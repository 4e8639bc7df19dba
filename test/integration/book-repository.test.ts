import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdTakenError,
  VersionMismatchError,
} from '../../lib/books/errors.ts';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { bookKey, counterKey } from '../../lib/dynamodb/keys.ts';
import { emma, listBooks, readCounter, setCounter } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

/** An item has at most 409,600 bytes with the names of its attributes, numbers and write tokens. */
const largest = 'x'.repeat(409_600 - 256);
const tooLarge = 'x'.repeat(409_600);

const manyVersions = (count: number) => Array.from({ length: count }, (_, index) => `version ${index}`);

const tables = useTables();

/** Opens a table of the test's own, so that its ids begin at 1. */
async function openTable() {
  const { table, proxy, proxied } = await tables.openThroughProxy();
  return { table, proxy, books: new BookRepository(proxied.client, table.tableName) };
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
    expect(await read(counterKey)).toEqual({ ...counterKey, lastId: 1 });
  });

  test('a book as large as any is stored, and can still be changed', async () => {
    const { table } = await openTable();
    const { id } = await table.repository.create({ title: largest, author: '', year: 0 });

    const updated = await table.repository.update(id, { year: Number.MIN_SAFE_INTEGER });

    expect(updated).toEqual({ id, title: largest, author: '', year: Number.MIN_SAFE_INTEGER });
    expect(await table.repository.update(id, { title: '' })).toEqual({ ...updated, title: '' });
  });

  test.each([
    ['one byte more than the largest', { title: largest, author: 'x', year: 0 }],
    ['over 400 KB', { ...emma, title: tooLarge }],
    ['fewer characters, but more bytes in UTF-8', { ...emma, title: '書'.repeat(150_000) }],
    ['texts that fit alone and not together', { title: largest.slice(9), author: largest.slice(9), year: 0 }],
  ])('a book of %s is refused, and nothing is stored', async (_size, fields) => {
    const { table } = await openTable();

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

describe('update and delete', () => {
  test.each([{ title: '' }, { author: 'J. A.' }, { year: -1 }, { title: 'a', author: 'b', year: 0 }, {}])(
    '%j changes just that, and the whole book comes back',
    async (changes) => {
      const { table } = await openTable();
      const other = await table.repository.create(emma);
      const { id } = await table.repository.create(emma);

      const updated = await table.repository.update(id, changes);

      expect(updated).toEqual({ id, ...emma, ...changes });
      expect(Object.keys(updated)).toEqual(['id', 'title', 'author', 'year']);
      expect(await listBooks(table)).toEqual([other, updated]);
    },
  );

  test('a book that would grow over 400 KB is refused and unchanged; a missing one is not found', async () => {
    const { table } = await openTable();
    const book = await table.repository.create({ ...emma, title: 'x'.repeat(300_000) });

    for (const changes of [{ author: 'x'.repeat(200_000) }, { title: tooLarge }]) {
      await expect(table.repository.update(1, changes)).rejects.toThrow(BookTooLargeError);
      await expect(table.repository.update(2, changes)).rejects.toThrow(BookNotFoundError);
    }

    expect(await table.repository.get(1)).toEqual(book);
  });
});

describe('versions', () => {
  test('each change makes another one, which does not change by itself', async () => {
    const { books } = await openTable();
    const versions = [(await books.create(emma)).version];
    for (const changes of [{ year: 1 }, { year: 1 }, { title: '' }]) {
      versions.push((await books.update(1, changes)).version);
    }

    expect(new Set(versions).size).toBe(4);
    expect(versions.join('')).toMatch(/^[\w-]+$/);
    expect((await books.get(1)).version).toBe(versions.at(-1));
    expect((await books.update(1, {})).version).toBe(versions.at(-1));
  });

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
    const { version = '' } = await new BookRepository(table.client, table.tableName).create(emma);

    const updated = await books.update(1, { year: 1 }, [version]);
    await books.delete(1, [updated.version ?? '']);

    expect(proxy.takeRequests().map(({ operation }) => operation)).toEqual(['UpdateItem', 'DeleteItem']);
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

  test.each([0, 200])(
    'of 20 updates and 20 deletions of one version at the same time, after %i others each, one is carried out',
    async (others) => {
      const { books } = await openTable();
      const named = [...manyVersions(others), (await books.create(emma)).version ?? ''];

      const results = await Promise.allSettled([
        ...Array.from({ length: 20 }, (_, year) => books.update(1, { year }, named)),
        ...Array.from({ length: 20 }, () => books.delete(1, named)),
      ]);

      const refused = results.flatMap((result) => (result.status === 'rejected' ? result.reason.name : []));
      expect(refused).toHaveLength(39);
      for (const name of refused) expect(name).toMatch(/^(VersionMismatch|BookNotFound)Error$/);
    },
  );
});
