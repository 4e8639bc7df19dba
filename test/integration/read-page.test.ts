import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Book } from '../../lib/books/book.ts';
import { BookList } from '../../lib/dynamodb/book-list.ts';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { type MeteringProxy, startMeteringProxy } from '../simulators/metering-proxy.ts';
import {
  type BookTable,
  connect,
  createBookTable,
  emma,
  listBooks,
  seedBooks,
  setCounter,
} from '../support/book-table.ts';
import { inParallel } from '../support/in-parallel.ts';

/** Three to a page of 1 MB, so that twelve of them are all that is held in memory. */
const largeTitle = 'x'.repeat(300_000);

/** Strongly consistent reads, "Read consumption for Amazon DynamoDB". */
const bytesPerReadUnit = 4096;

let engine: Engine;
let proxy: MeteringProxy;
let table: BookTable;
let list: BookList;

beforeAll(async () => {
  engine = await provideEngine();
  proxy = await startMeteringProxy(engine.endpoint);
});

afterAll(async () => {
  await proxy.stop();
  await engine.stop();
});

beforeEach(async () => {
  table = await createBookTable(engine.endpoint);
  list = new BookList(connect(proxy.endpoint), table.tableName);
});

function parseBooks(json: string): Book[] {
  return JSON.parse(`[${json}]`);
}

async function readPage(after: number, limit: number): Promise<{ books: Book[]; continueAfter?: number }> {
  const { books: parts, continueAfter } = await list.readPage(after, limit);
  const books = (await Array.fromAsync(parts)).flatMap(parseBooks);
  return { books, ...(continueAfter !== undefined && { continueAfter }) };
}

async function walk(limit: number): Promise<number[]> {
  const ids: number[] = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const { books, continueAfter }: { books: Book[]; continueAfter?: number } = await readPage(after, limit);
    ids.push(...books.map(({ id }) => id));
    after = continueAfter;
  }
  return ids;
}

/** Creates books under these ids. */
async function createBooks(ids: readonly number[], fields = emma): Promise<Book[]> {
  const books: Book[] = [];
  for (const id of ids) {
    await setCounter(table, id - 1);
    books.push(await table.repository.create(fields));
  }
  return books;
}

describe('readPage', () => {
  test('an empty table has an empty slice, and nothing follows', async () => {
    expect(await readPage(0, 10)).toEqual({ books: [] });
  });

  test('a slice holds whole books, and says after which one the next goes on', async () => {
    const [first, second, third] = await createBooks([1, 2, 3]);

    expect(await readPage(0, 2)).toEqual({ books: [first, second], continueAfter: 2 });
    expect(await readPage(2, 2)).toEqual({ books: [third] });
  });

  test('a slice that ends with the last book says that nothing follows', async () => {
    const books = await createBooks([1, 2, 3]);

    expect(await readPage(0, 3)).toEqual({ books });
    expect(await readPage(0, 4)).toEqual({ books });
  });

  test.each([1, 2, 3, 5, 100])(
    'slices of %i make up the list, across shards without books and ids without',
    async (limit) => {
      const ids = [1, 2, 9_998, 9_999, 10_000, 10_001, 50_000, 69_999, 70_000];
      await createBooks(ids);

      expect(await walk(limit)).toEqual(ids);
    },
  );

  test('any slice is what the list has there', async () => {
    const ids = [3, 4, 9_999, 10_000, 20_001, 20_002, 20_003];
    const books = await createBooks(ids);
    const afters = fc.oneof(
      fc.constantFrom(...ids),
      fc.integer({ min: 0, max: 40_000 }),
      fc.constant(Number.MAX_SAFE_INTEGER),
    );
    await fc.assert(
      fc.asyncProperty(afters, fc.integer({ min: 1, max: 9 }), async (after, limit) => {
        const following = books.filter(({ id }) => id > after);
        const slice = following.slice(0, limit);
        const more = following.length > limit;
        expect(await readPage(after, limit)).toEqual({
          books: slice,
          ...(more && { continueAfter: slice.at(-1)?.id }),
        });
      }),
    );
  });

  test.each([12, 13, 14, 20, 29, 30, 31])(
    'books too large to be held all at once make slices of %i like others',
    async (limit) => {
      const books = await inParallel(30, 4, () => table.repository.create({ ...emma, title: largeTitle }));
      const ids = books.map(({ id }) => id).toSorted((a, b) => a - b);

      const slice = await readPage(0, limit);

      expect(slice.books.map(({ id }) => id)).toEqual(ids.slice(0, limit));
      expect(slice.books.every(({ title }) => title === largeTitle)).toBe(true);
      expect(slice.continueAfter).toBe(limit < 30 ? ids[limit - 1] : undefined);
      expect(await walk(limit)).toEqual(ids);
    },
  );

  test('a book that is deleted while a slice of large ones is sent does not bring one of the next slice into it', async () => {
    await inParallel(30, 4, () => table.repository.create({ ...emma, title: largeTitle }));

    const { books, continueAfter } = await list.readPage(0, 20);
    await table.repository.delete(18);
    const ids = (await Array.fromAsync(books)).flatMap(parseBooks).map(({ id }) => id);

    expect(continueAfter).toBe(20);
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20]);
  });
});

describe('what reading costs', () => {
  const sum = (requests: ReturnType<MeteringProxy['take']>) =>
    requests.reduce((total, { units }) => total + units, 0);

  test('a slice within a shard is one Query for its books, wherever it lies', async () => {
    await seedBooks(table, 9_999);
    for (const after of [0, 5_000, 9_800]) {
      proxy.take();
      await readPage(after, 100);

      const requests = proxy.take();
      expect(requests.map(({ operation }) => operation)).toEqual(['Query']);
      expect(sum(requests)).toBeLessThanOrEqual(3);
    }
  });

  test('the whole list consumes its size in units of 4 KB, and one more for each shard and for the counter', async () => {
    await seedBooks(table, 25_000);
    proxy.take();
    for await (const _ of list.readAll());

    const requests = proxy.take();
    const shards = 3;
    const bytes = (await listBooks(table)).reduce((total, book) => total + itemBytes(book), 0);
    expect(requests.filter(({ operation }) => operation === 'GetItem')).toHaveLength(1);
    expect(sum(requests)).toBeLessThanOrEqual((bytes / bytesPerReadUnit) * 1.05 + shards + 1);
    expect(sum(requests)).toBeGreaterThanOrEqual((bytes / bytesPerReadUnit) * 0.95);
  });

  test('a small list takes one Query and the counter, asked for at the same time', async () => {
    await createBooks([1, 2, 3]);
    proxy.take();
    for await (const _ of list.readAll());

    expect(
      proxy
        .take()
        .map(({ operation }) => operation)
        .toSorted(),
    ).toEqual(['GetItem', 'Query']);
  });

  test('a reader who stops early has hardly more read than he took', async () => {
    await setCounter(table, 500_000);
    proxy.take();
    for await (const _ of list.readAll()) break;
    const books = await createBooks([10_001, 500_001]);
    proxy.take();

    for await (const part of list.readAll()) if (parseBooks(part)[0]?.id === books[0]?.id) break;

    // The two shards that were read, and three ahead.
    expect(proxy.take().filter(({ operation }) => operation === 'Query').length).toBeLessThanOrEqual(5);
  });
});

/** Sizes of attributes, "DynamoDB item sizes and formats": names in UTF-8, numbers about half a byte for each digit. */
function itemBytes({ id, title, author, year }: Book): number {
  const names = 'shard' + 'id' + 'title' + 'author' + 'year' + 'writeToken';
  const texts = Buffer.byteLength(title) + Buffer.byteLength(author) + Buffer.byteLength('seeded-token');
  const number = (value: number) => Math.ceil(String(value).replace(/0+$/, '').length / 2) + 1;
  return names.length + texts + number(id) + number(year) + number(Math.floor(id / 10_000));
}
