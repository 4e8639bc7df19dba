import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CounterMissingError } from '../../lib/books/errors.ts';
import { bookKey, counterKey } from '../../lib/dynamodb/keys.ts';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import {
  type BookTable,
  createBookTable,
  emma,
  iterateBooks,
  listBooks,
  setCounter,
} from '../support/book-table.ts';
import { inParallel } from '../support/in-parallel.ts';

let engine: Engine;
let table: BookTable;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

const openTable = async () => {
  table = await createBookTable(engine.endpoint);
  return table.repository;
};

const idsIn = async (listed: BookTable) => (await listBooks(listed)).map(({ id }) => id);

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('list', () => {
  test('an empty table has no books', async () => {
    await openTable();

    expect(await listBooks(table)).toEqual([]);
  });

  test('a table whose counter was set back to 0 has no books', async () => {
    await openTable();
    await setCounter(table, 0);

    expect(await listBooks(table)).toEqual([]);
  });

  test('books come whole, in the order of their ids as numbers', async () => {
    const books = await openTable();
    const created = await inParallel(12, 1, (index) => books.create({ ...emma, year: index }));

    // As texts, 10 would come before 2.
    expect(await listBooks(table)).toEqual(created);
    expect(await idsIn(table)).toEqual(range(1, 12));
  });

  test('neither the counter nor the keys of the table show in the list', async () => {
    const books = await openTable();
    await books.create(emma);

    const [book] = await listBooks(table);

    expect(book).toEqual({ id: 1, ...emma });
  });

  test("texts that look like the database's own JSON come back exactly", async () => {
    const books = await openTable();
    const parts = ['"', '\\', '{"S":"', '{"N":"1"}', '"}},{"', '}', '"Items":[', ',', '\n', '書', ''];
    const text = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join(''));
    const fields = fc.record({ title: text, author: text, year: fc.maxSafeInteger() });

    const created = await inParallel(300, 10, () => books.create(fc.sample(fields, 1)[0] ?? emma));

    expect(await listBooks(table)).toEqual(
      created.map((book) => ({ ...book, year: book.year + 0 })).toSorted((a, b) => a.id - b.id),
    );
  });

  test('books on both sides of every border between shards are listed in order', async () => {
    const books = await openTable();
    await inParallel(3, 1, () => books.create(emma));
    await setCounter(table, 9_994);
    await inParallel(10, 5, () => books.create(emma));
    await setCounter(table, 19_994);
    await inParallel(10, 5, () => books.create(emma));

    expect(await idsIn(table)).toEqual([...range(1, 3), ...range(9_995, 10_004), ...range(19_995, 20_004)]);
  });

  test.each([9_999, 10_000, 10_001, 20_000])('the book %i is listed when it is the last one', async (id) => {
    const books = await openTable();
    await setCounter(table, id - 1);
    await books.create(emma);

    expect(await idsIn(table)).toEqual([id]);
  });

  test('shards without any books do not end the list', async () => {
    const books = await openTable();
    await books.create(emma);
    await setCounter(table, 69_999);
    await books.create(emma);

    expect(await idsIn(table)).toEqual([1, 70_000]);
  });

  test('books of 300 KB, three to a page of 1 MB, are all listed in order', async () => {
    const books = await openTable();
    const title = 'x'.repeat(300_000);
    await setCounter(table, 9_991);
    const created = await inParallel(16, 4, (index) => books.create({ ...emma, title, year: index }));

    const listed = await listBooks(table);

    expect(listed.map(({ id }) => id)).toEqual(range(9_992, 10_007));
    expect(listed.map(({ year }) => year)).toEqual(
      created.toSorted((a, b) => a.id - b.id).map(({ year }) => year),
    );
    expect(listed.every((book) => book.title === title)).toBe(true);
  });

  test('books that are created while the list is read hide none that were there before', async () => {
    const books = await openTable();
    const title = 'x'.repeat(300_000);
    await inParallel(8, 4, () => books.create({ ...emma, title }));

    const seen: number[] = [];
    for await (const { id } of iterateBooks(table)) {
      seen.push(id);
      if (id <= 3) await books.create(emma);
      if (id === 4) await books.delete(8);
    }

    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.slice(0, 7)).toEqual(range(1, 7));
  });

  test('a list that nobody reads to its end can be left', async () => {
    const books = await openTable();
    await inParallel(3, 3, () => books.create(emma));

    for await (const { id } of iterateBooks(table)) if (id === 1) break;

    expect(await idsIn(table)).toEqual([1, 2, 3]);
  });

  test('a table with books and without a counter is an error, and not a short list', async () => {
    const books = await openTable();
    await books.create(emma);
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: counterKey }));

    await expect(idsIn(table)).rejects.toThrow(CounterMissingError);
  });

  test('a book that was stored by an import, under an id that the counter has passed, is listed', async () => {
    await openTable();
    await setCounter(table, 12_000);
    await table.client.send(
      new PutCommand({ TableName: table.tableName, Item: { ...bookKey(11_000), ...emma, writeToken: 'x' } }),
    );

    expect(await listBooks(table)).toEqual([{ id: 11_000, ...emma }]);
  });
});
