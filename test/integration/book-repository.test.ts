import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdsExhaustedError,
  IdTakenError,
  VersionMismatchError,
} from '../../lib/books/errors.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { aBook } from '../support/a-book.ts';
import { emma, listBooks, openBooks, readCounter, setCounter } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

/** An item has at most 409,600 bytes with the names of its attributes, numbers of 21 bytes and 220 of tokens and key. */
const otherBytes = Object.entries(aBook()).map(
  ([name, value]) => name.length + (typeof value === 'number' ? 21 : 0),
);
const largest = 'x'.repeat(409_600 - 220 - otherBytes.reduce((total, bytes) => total + bytes));

const manyVersions = (count: number) => Array.from({ length: count }, (_, index) => `version ${index}`);

const tables = await useTables();

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

describe('a table that another program or version wrote', () => {
  const putItem = (table: Awaited<ReturnType<typeof openTable>>['table'], item: object) =>
    table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...bookKey(1), ...item } }));

  test.each([
    ['a random token of a build before 1.0.0', { writeToken: 'q83vEjRWeJCrze8S', createToken: 'x' }],
    ['a token that sorts before those of today', { writeToken: '-83vEjRWeJCr' }],
    ['a token from a clock that is years ahead', { writeToken: 'fffffffe-0000-7000-8000-000000000000' }],
    ['no token', {}],
  ])('has a book with %s, which 50 clients update at once and one deletes', async (_name, tokens) => {
    const { table, books } = await openTable();
    await putItem(table, { ...emma, ...tokens });

    await Promise.all(Array.from({ length: 50 }, (_, year) => books.update(1, { year })));

    const { book, version } = await books.get(1);
    expect(book).toEqual({ id: 1, ...emma, year: book.year });
    expect(version).toMatch(/^0/);
    await books.delete(1);
    await expect(books.get(1)).rejects.toThrow(BookNotFoundError);
    await expect(books.delete(1)).rejects.toThrow(BookNotFoundError);
  });

  test.each(['get', 'list'] as const)(
    'has a book without a field, which %s gives its default',
    async (read) => {
      const { table, books } = await openTable();
      await setCounter(table, 1);
      await putItem(table, { title: 'Emma', writeToken: 'x' });

      const [book] = read === 'get' ? [(await books.get(1)).book] : await listBooks(table);

      expect(book).toEqual({ id: 1, ...aBook({ title: 'Emma' }) });
    },
  );

  test.each([{ year: '1815' }, { year: 1.5 }, { title: 1 }, { title: null }, { author: ['x'] }])(
    'has a book with %j, which is an error with its id in single reads and in lists',
    async (wrong) => {
      const { table, books } = await openTable();
      await setCounter(table, 1);
      await putItem(table, { ...emma, ...wrong, writeToken: 'x' });

      await expect(books.get(1)).rejects.toThrow(/book 1 has a "\w+" of the wrong type/);
      await expect(listBooks(table)).rejects.toThrow(/book 1 has a "\w+" of the wrong type/);
    },
  );
});

describe('sizes', () => {
  const half = 'x'.repeat(250_000);

  test('an update that fits or not as others shrink and grow the book is done or refused, and never an error', async () => {
    const { table, books } = await openTable();
    await table.repository.create({ ...emma, title: half });
    const names = new Set<string>();

    const resize = async () => {
      for (let round = 0; round < 30; round += 1) {
        await books.update(1, { title: round % 2 ? half : '' }).catch(({ name }: Error) => names.add(name));
      }
    };
    const write = async () => {
      for (let round = 0; round < 60; round += 1) {
        await books.update(1, { author: half }).catch(({ name }: Error) => names.add(name));
        await books.update(1, { author: '' }).catch(({ name }: Error) => names.add(name));
      }
    };
    await Promise.all([resize(), write(), write()]);

    expect([...names]).toEqual(['BookTooLargeError']);
  });

  test('an update that is too large with the stored fields is refused as such before its version is', async () => {
    const { table, books } = await openTable();
    await table.repository.create({ ...emma, title: half });

    await expect(books.update(1, { author: half }, ['another'])).rejects.toThrow(BookTooLargeError);
    await expect(books.update(1, { author: 'x' }, ['another'])).rejects.toThrow(VersionMismatchError);
  });
});

test('the last id is given to nobody: a create after it stores nothing and lists stay readable', async () => {
  const { table, books } = await openTable();
  await setCounter(table, Number.MAX_SAFE_INTEGER);

  await expect(books.create(emma)).rejects.toThrow(IdsExhaustedError);
  await expect(books.create(emma, 'key')).rejects.toThrow(IdsExhaustedError);

  expect(await readCounter(table)).toBe(Number.MAX_SAFE_INTEGER);
});

describe('versions', () => {
  test('a book that was stored by other means has none until it is changed', async () => {
    const { table, books } = await openTable();
    const Item = { ...bookKey(1), ...emma };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

    expect((await books.get(1)).version).toBeUndefined();
    await expect(books.update(1, { year: 1 }, [''])).rejects.toThrow(VersionMismatchError);
    await expect(books.update(1, {}, [''])).rejects.toThrow(VersionMismatchError);
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
