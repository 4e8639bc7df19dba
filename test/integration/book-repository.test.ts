import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BookNotFoundError, BookTooLargeError, IdTakenError } from '../../lib/books/errors.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { anyText } from '../support/any-text.ts';
import {
  type BookTable,
  createBookTable,
  emma,
  listBooks,
  readCounter,
  setCounter,
} from '../support/book-table.ts';
import { inParallel } from '../support/in-parallel.ts';

/** The limit of an item is 409,600 bytes with its attribute names, numbers and write tokens. */
const largest = 'x'.repeat(409_600 - 256);
const tooLarge = 'x'.repeat(409_600);
const nearlyTooLarge = 'x'.repeat(409_000);

let engine: Engine;
let table: BookTable;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

/** A table of the test's own, so that its ids begin at 1. */
const openTable = async () => {
  table = await createBookTable(engine.endpoint);
  return table.repository;
};

async function readItem(id: number) {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.tableName, Key: bookKey(id) }));
  return Item;
}

describe('create', () => {
  test('books get the ids 1, 2, 3 in an empty table', async () => {
    const books = await openTable();

    const created = [await books.create(emma), await books.create(emma), await books.create(emma)];

    expect(created).toEqual([
      { id: 1, ...emma },
      { id: 2, ...emma },
      { id: 3, ...emma },
    ]);
  });

  test('the id of a deleted book is not used again', async () => {
    const books = await openTable();
    const { id } = await books.create(emma);
    await books.delete(id);

    expect((await books.create(emma)).id).toBe(id + 1);
  });

  test('500 books created with 50 in flight get distinct ids and each keeps its own fields', async () => {
    const books = await openTable();

    const created = await inParallel(500, 50, (index) => books.create({ ...emma, title: `Book ${index}` }));

    // Not 1 to 500: on a machine that is busy enough the client asks twice for an id, which leaves a gap.
    expect(new Set(created.map(({ id }) => id)).size).toBe(500);
    expect(created.map(({ title }) => title)).toEqual(
      Array.from({ length: 500 }, (_, index) => `Book ${index}`),
    );
    expect(await listBooks(table)).toEqual(created.toSorted((a, b) => a.id - b.id));
  });

  test('a book holds what was given and nothing beside keys and write token is stored', async () => {
    const books = await openTable();
    const { id } = await books.create(emma);

    expect(await readItem(id)).toEqual({ shard: 0, id, ...emma, writeToken: expect.any(String) });
  });

  test('any texts and any safe year come back exactly', async () => {
    const books = await openTable();
    const fields = fc.record({ title: anyText, author: anyText, year: fc.maxSafeInteger() });

    await fc.assert(
      fc.asyncProperty(fields, async (book) => {
        const { id } = await books.create(book);

        expect(await books.get(id)).toEqual({ id, ...book, year: book.year + 0 });
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['empty texts and the year zero', { title: '', author: '', year: 0 }],
    ['the highest safe year', { ...emma, year: Number.MAX_SAFE_INTEGER }],
    ['the lowest safe year', { ...emma, year: Number.MIN_SAFE_INTEGER }],
    ['characters of every plane', { title: '📚𝔊żé\u0301\0\u2028', author: 'محمد 村上春樹', year: -44 }],
    ['texts that look like numbers', { title: '1e5', author: '007', year: 1962 }],
  ])('a book with %s comes back exactly', async (_name, fields) => {
    const books = await openTable();

    const created = await books.create(fields);

    expect(created).toEqual({ id: 1, ...fields });
    expect(await books.get(1)).toEqual(created);
    expect(await listBooks(table)).toEqual([created]);
  });

  test('a book just under 400 KB is stored', async () => {
    const books = await openTable();

    const { id } = await books.create({ ...emma, title: nearlyTooLarge });

    expect((await books.get(id)).title).toBe(nearlyTooLarge);
  });

  test('a book that is as large as any can still be changed', async () => {
    const books = await openTable();
    const { id } = await books.create({ title: largest, author: '', year: 0 });

    const updated = await books.update(id, { year: Number.MIN_SAFE_INTEGER });
    const emptied = await books.update(id, { title: '' });

    expect(updated).toEqual({ id, title: largest, author: '', year: Number.MIN_SAFE_INTEGER });
    expect(emptied).toEqual({ ...updated, title: '' });
  });

  test('a book with one byte more than the largest is refused', async () => {
    const books = await openTable();

    await expect(books.create({ title: largest, author: 'x', year: 0 })).rejects.toThrow(BookTooLargeError);
  });

  test('a book over 400 KB is refused and nothing is stored', async () => {
    const books = await openTable();

    await expect(books.create({ ...emma, title: tooLarge })).rejects.toThrow(BookTooLargeError);

    expect(await listBooks(table)).toEqual([]);
  });

  test('a book whose characters fit but whose bytes in UTF-8 do not is refused', async () => {
    const books = await openTable();

    await expect(books.create({ ...emma, title: '書'.repeat(150_000) })).rejects.toThrow(BookTooLargeError);

    expect(await listBooks(table)).toEqual([]);
  });

  test('a book whose texts fit one by one but not together is refused', async () => {
    const books = await openTable();
    const half = 'x'.repeat(205_000);

    await expect(books.create({ title: half, author: half, year: 0 })).rejects.toThrow(BookTooLargeError);

    expect(await listBooks(table)).toEqual([]);
  });

  test('a counter that was reset overwrites no book', async () => {
    const books = await openTable();
    const first = await books.create(emma);
    await setCounter(table, 0);

    await expect(books.create({ title: 'Other', author: 'Other', year: 1 })).rejects.toThrow(IdTakenError);

    expect(await books.get(first.id)).toEqual(first);
  });

  test('the error of a counter that was reset says what to do', async () => {
    const books = await openTable();
    await books.create(emma);
    await setCounter(table, 0);

    await expect(books.create(emma)).rejects.toThrow(
      'the counter drew id 1, which a book has already: set its lastId to the highest id in the table',
    );
  });
});

describe('get', () => {
  test('a book that does not exist is not found', async () => {
    const books = await openTable();

    await expect(books.get(1)).rejects.toThrow(BookNotFoundError);
    await expect(books.get(Number.MAX_SAFE_INTEGER)).rejects.toThrow(BookNotFoundError);
  });

  test('a book shows its id and three fields and no more', async () => {
    const books = await openTable();
    await books.create(emma);

    expect(Object.keys(await books.get(1))).toEqual(['id', 'title', 'author', 'year']);
  });
});

describe('update', () => {
  test.each([
    [{ title: 'Persuasion' }, { ...emma, title: 'Persuasion' }],
    [{ author: 'J. A.' }, { ...emma, author: 'J. A.' }],
    [{ year: -1 }, { ...emma, year: -1 }],
    [
      { title: '', author: '', year: 0 },
      { title: '', author: '', year: 0 },
    ],
    [{}, emma],
  ])('%j changes just that, and the whole book comes back', async (changes, expected) => {
    const books = await openTable();
    const { id } = await books.create(emma);
    const other = await books.create(emma);

    const updated = await books.update(id, changes);

    expect(updated).toEqual({ id, ...expected });
    expect(Object.keys(updated)).toEqual(['id', 'title', 'author', 'year']);
    expect(await books.get(id)).toEqual(updated);
    expect(await books.get(other.id)).toEqual(other);
  });

  test.each([{}, { title: 'x' }])('%j to a book that does not exist creates none', async (changes) => {
    const books = await openTable();

    await expect(books.update(7, changes)).rejects.toThrow(BookNotFoundError);

    await expect(books.get(7)).rejects.toThrow(BookNotFoundError);
  });

  test('updates of different fields at the same time are all kept', async () => {
    const books = await openTable();
    const created = await inParallel(20, 20, () => books.create(emma));

    await Promise.all(
      created.flatMap(({ id }) => [
        books.update(id, { title: `title ${id}` }),
        books.update(id, { author: `author ${id}` }),
        books.update(id, { year: id }),
      ]),
    );

    expect(await listBooks(table)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1).map((id) => ({
        id,
        title: `title ${id}`,
        author: `author ${id}`,
        year: id,
      })),
    );
  });

  test('updates of the same book at the same time leave one of them whole', async () => {
    const books = await openTable();
    await books.create(emma);

    await inParallel(20, 20, (index) =>
      books.update(1, { title: `t${index}`, author: `a${index}`, year: index }),
    );

    const { title, author, year } = await books.get(1);
    expect([title, author]).toEqual([`t${year}`, `a${year}`]);
  });

  test('an update at the same time as the deletion never brings the book back', async () => {
    const books = await openTable();
    const created = await inParallel(20, 20, () => books.create(emma));

    await Promise.allSettled(
      created.flatMap(({ id }) => [
        books.update(id, { title: 'x' }),
        books.delete(id),
        books.update(id, { year: 1 }),
      ]),
    );

    expect(await listBooks(table)).toEqual([]);
  });

  test('a book that would grow over 400 KB is refused and unchanged', async () => {
    const books = await openTable();
    const book = await books.create({ ...emma, title: 'x'.repeat(300_000) });

    await expect(books.update(book.id, { author: 'x'.repeat(200_000) })).rejects.toThrow(BookTooLargeError);
    await expect(books.update(book.id, { title: tooLarge })).rejects.toThrow(BookTooLargeError);

    expect(await books.get(book.id)).toEqual(book);
  });

  test('changes over 400 KB to a book that does not exist: the missing book comes first', async () => {
    const books = await openTable();

    await expect(books.update(7, { title: tooLarge })).rejects.toThrow(BookNotFoundError);
  });
});

describe('delete', () => {
  test('a deleted book is gone, from the list too, and its neighbours stay', async () => {
    const books = await openTable();
    const [first, second, third] = await inParallel(3, 1, () => books.create(emma));

    await books.delete(second?.id ?? 0);

    await expect(books.get(2)).rejects.toThrow(BookNotFoundError);
    await expect(books.update(2, { title: 'x' })).rejects.toThrow(BookNotFoundError);
    expect(await listBooks(table)).toEqual([first, third]);
  });

  test('a book that does not exist, or no longer, is not found', async () => {
    const books = await openTable();
    await books.create(emma);
    await books.delete(1);

    await expect(books.delete(1)).rejects.toThrow(BookNotFoundError);
    await expect(books.delete(2)).rejects.toThrow(BookNotFoundError);
  });

  test('of ten deletions of a book at the same time exactly one succeeds', async () => {
    const books = await openTable();
    await books.create(emma);

    const results = await Promise.allSettled(Array.from({ length: 10 }, () => books.delete(1)));

    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(9);
    expect(refused.map(({ reason }) => reason.name)).toEqual(Array(9).fill('BookNotFoundError'));
  });

  test('the counter stays as it is', async () => {
    const books = await openTable();
    await books.create(emma);

    await books.delete(1);

    expect(await readCounter(table)).toBe(1);
  });
});
