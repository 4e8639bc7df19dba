import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { fragments, fragmentText } from '../../conformance/any-text.ts';
import type { Book } from '../../lib/books/book.ts';
import { CounterMissingError } from '../../lib/books/errors.ts';
import type { BookList } from '../../lib/dynamodb/book-list.ts';
import { counterKey } from '../../lib/dynamodb/keys.ts';
import { aBook, anyFieldValues } from '../support/a-book.ts';
import {
  type BookTable,
  emma,
  iterateBooks,
  listBooks,
  openList,
  seedBooks,
  setCounter,
  storeBook,
} from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

/** Three to a database page of 1 MB, so that twelve of them are all that is held in memory. */
const largeTitle = 'x'.repeat(300_000);

const tables = await useTables();
let table: BookTable;
let list: BookList;

beforeEach(async () => {
  table = await tables.open();
  list = openList(table);
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Stores books under these ids, the last of which is in the counter. */
async function storeBooks(ids: readonly number[], fields = emma): Promise<Book[]> {
  const books = ids.map((id) => ({ id, ...fields, year: id }));
  await Promise.all(books.map((book) => storeBook(table, book)));
  await setCounter(table, ids.at(-1) ?? 0);
  return books;
}

async function readPage(after: number, limit: number): Promise<{ books: Book[]; continueAfter?: number }> {
  const { books: chunks, continueAfter } = await list.readPage(after, limit);
  const books = (await Array.fromAsync(chunks)).flatMap((json): Book[] => JSON.parse(`[${json}]`));
  return { books, ...(continueAfter !== undefined && { continueAfter }) };
}

describe('readAll', () => {
  test('an empty table has no books, with a counter and without', async () => {
    expect(await listBooks(table)).toEqual([]);
    await setCounter(table, 0);
    expect(await listBooks(table)).toEqual([]);
  });

  // 9,999 is the last id of the first shard; ids as texts would put 10 before 2.
  test.each([
    ['with more than one digit', range(1, 12)],
    ['on both sides of every border between shards', [1, ...range(9_995, 10_004), ...range(19_995, 20_004)]],
    ['that end at a border', [9_999]],
    ['that begin at a border', [10_000]],
    ['with shards without any books between them', [1, 70_000]],
  ])('ids %s are listed in their order', async (_where, ids) => {
    const books = await storeBooks(ids);

    expect(await listBooks(table)).toEqual(books);
  });

  test('a book under an id that the counter has passed is listed', async () => {
    await setCounter(table, 12_000);
    await storeBook(table, { id: 11_000, ...emma });

    expect(await listBooks(table)).toEqual([{ id: 11_000, ...emma }]);
  });

  test('books of 300 KB, three to a database page, are all listed in order', async () => {
    const books = await storeBooks(range(9_992, 10_007), { ...emma, title: largeTitle });

    expect(await listBooks(table)).toEqual(books);
  });

  test('books that come and go while the list is read hide none that stays', async () => {
    await storeBooks(range(1, 8), { ...emma, title: largeTitle });

    const seen: number[] = [];
    for await (const { id } of iterateBooks(table)) {
      seen.push(id);
      if (id <= 3) await table.repository.create(emma);
      if (id === 4) await table.repository.delete(8);
    }

    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect(seen.slice(0, 7)).toEqual(range(1, 7));
  });

  test('a table with books and without a counter is an error, and not a short list', async () => {
    await storeBooks([1]);
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: counterKey }));

    await expect(listBooks(table)).rejects.toThrow(CounterMissingError);
  });
});

describe('texts', () => {
  /** The list of this many books takes several database pages, in two shards. */
  const count = 12_501;

  test('of fragments of every syntax come back exactly, in every position of every page', async () => {
    const fields = fc.record({ ...anyFieldValues, title: fragmentText });
    const books = fc.sample(fields, count).map((sample, index) => ({ id: index + 1, ...sample }));
    // What looks like the border of two items, on both sides of the borders between pages and shards.
    for (const id of [1, 2_500, 4_999, 5_000, 5_001, 9_999, 10_000, 12_500, 12_501]) {
      const field = id % 2 ? 'title' : 'author';
      books[id - 1] = { ...(books[id - 1] as Book), [field]: '"}},{' };
    }
    await seedBooks(table, count, (id) => {
      const { id: _, ...book } = books[id - 1] as Book;
      return book;
    });

    expect(await listBooks(table)).toEqual(books);
    const pages = fc.record({
      after: fc.oneof(fc.nat({ max: count }), fc.integer({ min: 9_980, max: 10_005 })),
      limit: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 1_000 })),
    });
    await fc.assert(
      fc.asyncProperty(pages, async ({ after, limit }) => {
        expect((await readPage(after, limit)).books).toEqual(books.slice(after, after + limit));
      }),
      { numRuns: 40 },
    );
  });

  test('a list, and a page, may end with a book of any fragment', async () => {
    const books: Book[] = [];
    for (const fragment of fragments) {
      const id = 9_950 + books.length;
      const book = { id, ...aBook({ title: fragment, author: fragment, year: 1 }) };
      books.push(book);
      await storeBook(table, book);
      await setCounter(table, book.id);

      expect(await listBooks(table)).toEqual(books);
      expect(await readPage(book.id - 1, 1)).toEqual({ books: [book] });
    }
  });
});

describe('readPage', () => {
  test('an empty table has an empty page, and nothing follows', async () => {
    expect(await readPage(0, 10)).toEqual({ books: [] });
  });

  test('any page is what the list has there, and says whether books follow', async () => {
    const ids = [3, 4, 9_999, 10_000, 20_001, 20_002, 20_003];
    const books = await storeBooks(ids);
    const afters = fc.oneof(
      fc.constantFrom(0, ...ids, Number.MAX_SAFE_INTEGER),
      fc.integer({ min: 0, max: 40_000 }),
    );

    await fc.assert(
      fc.asyncProperty(afters, fc.integer({ min: 1, max: 9 }), async (after, limit) => {
        const following = books.filter(({ id }) => id > after);
        const page = following.slice(0, limit);
        const more = following.length > limit;
        expect(await readPage(after, limit)).toEqual({
          books: page,
          ...(more && { continueAfter: page.at(-1)?.id }),
        });
      }),
    );
  });

  test('books too large to be held all at once make pages like others', async () => {
    const books = await storeBooks(range(1, 30), { ...emma, title: largeTitle });

    // Around what is held, and around the end.
    for (const limit of [11, 12, 13, 14, 29, 30, 31]) {
      expect(await readPage(0, limit)).toEqual({
        books: books.slice(0, limit),
        ...(limit < 30 && { continueAfter: limit }),
      });
    }
    expect(await readPage(13, 13)).toEqual({ books: books.slice(13, 26), continueAfter: 26 });
  });

  test('large books that come and go while their page is sent leave its end where it was', async () => {
    const ids = range(1, 31).filter((id) => id !== 17);
    await storeBooks(ids, { ...emma, title: largeTitle });

    const { books: chunks, continueAfter } = await list.readPage(0, 20);
    await table.repository.delete(19);
    await storeBook(table, { id: 17, ...emma });
    const books = (await Array.fromAsync(chunks)).flatMap((json): Book[] => JSON.parse(`[${json}]`));

    expect(continueAfter).toBe(21);
    expect(books.map(({ id }) => id)).toEqual([...range(1, 16), 18, 20, 21]);
  });
});
