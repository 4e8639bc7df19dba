import { setImmediate } from 'node:timers/promises';
import { DeleteCommand, GetCommand, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { test as base, expect, onTestFinished, vi } from 'vitest';
import type { Book, BookFields } from '../../lib/books/book.ts';
import type { BookFilter } from '../../lib/books/book-filter.ts';
import { repairAdvice } from '../../lib/dynamodb/books/counter.ts';
import { CounterError, StorageUnavailableError } from '../../lib/dynamodb/connection/errors.ts';
import { bookKey, counterKey } from '../../lib/dynamodb/table/keys.ts';
import { type Command, MemoryTable, respondTo } from '../fakes/memory-table.ts';
import { anyFieldValues } from '../support/a-book.ts';
import { fragmentText } from '../support/any-text.ts';
import {
  emma,
  iterateBooks,
  listBooks,
  openList,
  seedBooks,
  setCounter,
  storeBook,
  type TableAccess,
} from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { openBySending } from '../support/table-by-request.ts';

const tables = await useTables();
const test = base.extend('table', () => tables.open());

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Stores books under these ids, the last of which is in the counter. */
async function storeBooks(table: TableAccess, ids: readonly number[], fields = emma): Promise<Book[]> {
  const books = ids.map((id) => ({ id, ...fields, year: id }));
  await Promise.all(books.map((book) => storeBook(table, book)));
  await setCounter(table, ids.at(-1) ?? 0);
  return books;
}

/** Reads a page of the books with higher ids that match. */
async function readPage(table: TableAccess, after: number, limit: number, filter: BookFilter = {}) {
  const { books, continueAfter } = await openList(table).readPage({ after, filter }, limit);
  return { books: JSON.parse(`[${books}]`) as Book[], continueAfter };
}

/** Lists the ids of all books that match. */
async function find(table: TableAccess, filter: BookFilter, after = 0): Promise<number[]> {
  const chunks = await Array.fromAsync(openList(table).readAll({ after, filter }));
  return chunks.flatMap((json): Book[] => JSON.parse(`[${json}]`)).map(({ id }) => id);
}

test('an empty table has an empty list and an empty page, with a counter and without', async ({ table }) => {
  expect(await listBooks(table)).toEqual([]);
  await setCounter(table, 0);
  expect(await listBooks(table)).toEqual([]);
  expect(await readPage(table, 0, 10)).toEqual({ books: [], continueAfter: undefined });
  expect(await listBooks(table, Number.MAX_SAFE_INTEGER)).toEqual([]);
});

test('a page that is read ahead may fail before its turn: the list breaks off there', async ({ table }) => {
  const books = await storeBooks(table, [1, 10_000]);
  const onUnhandled = vi.fn();
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
  const { access } = noteQueries(table, ({ ExpressionAttributeValues: values }) => {
    if (values?.[':shard'] === 1) throw new StorageUnavailableError();
  });
  const received: Book[] = [];
  const reading = async () => {
    for await (const book of iterateBooks(access)) {
      received.push(book);
      await setImmediate(); // The page of the other shard fails meanwhile.
    }
  };

  await expect(reading()).rejects.toThrow(StorageUnavailableError);

  expect(received).toEqual(books.slice(0, 1));
  expect(onUnhandled).not.toHaveBeenCalled();
});

test('the list of a table with books and without a counter is an error, and not short', async ({ table }) => {
  await storeBooks(table, [1]);
  await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: counterKey }));

  await expect(listBooks(table)).rejects.toThrow(CounterError);
  await expect(listBooks(table)).rejects.toThrow(`no counter: ${repairAdvice}`);
});

test('texts of any syntax come back exactly, wherever database pages and shards end', async ({ table }) => {
  // Two database pages of 1 MB in each of two shards.
  const [firstId, count] = [9_000, 2_001];
  const author = 'x'.repeat(1_200);
  const fields = fc.sample(fc.record({ ...anyFieldValues, title: fragmentText, author: fc.constant(author) }), count);
  const books = fields.map((each, index) => ({ id: firstId + index, ...each }));
  await seedBooks(table, count, (id) => fields[id - firstId] ?? emma, firstId);

  expect(await listBooks(table)).toEqual(books);
  const afters = fc.oneof(fc.integer({ min: firstId - 1, max: 11_000 }), fc.integer({ min: 9_980, max: 10_005 }));
  const limits = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 1_000 }));
  await fc.assert(
    fc.asyncProperty(afters, limits, async (after, limit) => {
      const start = after - firstId + 1;
      expect((await readPage(table, after, limit)).books).toEqual(books.slice(start, start + limit));
    }),
    { numRuns: 40 },
  );
});

// 9,999 is the last id of the first shard, and some shards are empty; ids as texts would put 10 before 3. Database pages
// of two items put the last book of the third shard into a second one.
test('the list has the order of ids, and any page says whether books follow, tombstones aside', async () => {
  const ids = [3, 4, 10, 9_999, 10_000, 20_001, 20_002, 20_003, 70_000];
  const books = ids.map((id) => ({ id, ...emma, year: id }));
  const tombstones = [5, 6, 7, 8, 9, 70_001].map((id) => ({ id, ...emma, expiresAt: 0 }));
  const access = storeInMemory([...books, ...tombstones], 2);
  const afters = new Set([0, ...ids.flatMap((id) => [id - 1, id]), Number.MAX_SAFE_INTEGER]);

  for (const after of afters) {
    const following = books.filter(({ id }) => id > after);
    expect(await listBooks(access, after)).toEqual(following);
    expect(await find(access, { title: emma.title }, after)).toEqual(following.map(({ id }) => id));
    const { length } = following;
    for (const limit of [1, length - 1, length, length + 1].filter((each) => each > 0)) {
      const page = following.slice(0, limit);
      const continueAfter = following.length > limit ? page.at(-1)?.id : undefined;
      expect(await readPage(access, after, limit)).toEqual({ books: page, continueAfter });
    }
  }
});

/** Notes all Queries, whose inputs `change` may change, and the reads of the counter. */
function noteQueries(table: TableAccess, change = (_input: QueryCommandInput) => {}) {
  const requests: string[] = [];
  const access = openBySending((command: object, options: never) => {
    if (command instanceof GetCommand) requests.push('counter');
    if (command instanceof QueryCommand) {
      requests.push(describeQuery(command.input));
      change(command.input);
    }
    return table.client.send(command as never, options);
  }, table.tableName);
  return { requests, access };
}

/** For example `5 books of shard 0 after 7`. */
function describeQuery(input: QueryCommandInput): string {
  const { ':shard': shard, ':after': after } = input.ExpressionAttributeValues ?? {};
  return `${input.Limit} books of shard ${shard} after ${after}`;
}

/** Ends database pages where no engine ends them earlier. */
function endAfterThree(input: QueryCommandInput): void {
  input.Limit = 3;
}

test.for<[after: number, requests: string[]]>([
  [
    0,
    [
      ...['5000 books of shard 0 after 0', 'counter', '5000 books of shard 0 after 3'],
      ...[1, 2, 3, 4].map((shard) => `5000 books of shard ${shard} after 0`),
      ...['5000 books of shard 5 after 0', '5000 books of shard 2 after 20002'],
    ],
  ],
  [39_999, ['5000 books of shard 4 after 39999', 'counter', '5000 books of shard 5 after 39999']],
])(
  'a list reads its first page beside the counter, and then four pages ahead: after %i',
  async ([after, expected], { table }) => {
    await storeBooks(table, [1, 2, 3, 4, 20_000, 20_001, 20_002, 20_003, 50_000]);
    const { requests, access } = noteQueries(table, endAfterThree);

    await listBooks(access, after);

    expect(requests).toEqual(expected);
  },
);

test('a reader who stops at the first book has caused four requests ahead', async ({ table }) => {
  await storeBooks(table, [10_001, 500_001]);
  const { requests, access } = noteQueries(table);

  for await (const _ of iterateBooks(access)) break;

  // The counter, the two shards that were read, and four ahead.
  expect(requests).toHaveLength(7);
});

test('a shard ends with its last id, where DynamoDB would return an empty page after a full one', async ({ table }) => {
  const books = await storeBooks(table, [9_997, 9_998, 9_999, 19_998, 19_999]);
  const { requests, access } = noteQueries(table, endAfterThree);
  const shards = ['5000 books of shard 0 after 0', 'counter', '5000 books of shard 1 after 0'];

  expect(await listBooks(access)).toEqual(books);
  expect(requests.splice(0)).toEqual(shards);
  expect((await readPage(access, 9_996, 10)).books).toEqual(books);
  expect(requests).toEqual(['11 books of shard 0 after 9996', 'counter', '8 books of shard 1 after 9996']);
});

test.for([19, 20, 21])('a page of %i of 20 books takes one Query', async (limit, { table }) => {
  const books = await storeBooks(table, range(1, 20));
  const { requests, access } = noteQueries(table);

  expect((await readPage(access, 0, limit)).books).toEqual(books.slice(0, limit));

  expect(requests).toEqual([`${limit + 1} books of shard 0 after 0`, ...(limit < 20 ? [] : ['counter'])]);
});

test('a page reads four times as many items with each Query, up to 5,000, so that tombstones in a row take few', async ({
  table,
}) => {
  const tombstone = { ...emma, expiresAt: 0 };
  await seedBooks(table, 2_731, (id) => (id < 2_731 ? tombstone : emma));
  const { requests, access } = noteQueries(table);

  expect((await readPage(access, 0, 1)).books).toEqual([{ id: 2_731, ...emma }]);

  const limits = [2, 8, 32, 128, 512, 2_048, 5_000];
  const afters = [0, 2, 10, 42, 170, 682, 2_730];
  const queries = limits.map((limit, index) => `${limit} books of shard 0 after ${afters[index]}`);
  expect(requests).toEqual([...queries, 'counter']);
});

/** The fields of a book whose JSON has that many bytes. */
function ofSize(id: number, bytes: number): BookFields {
  const fields = { ...emma, title: '', year: id };
  return { ...fields, title: 'x'.repeat(bytes - JSON.stringify({ id, ...fields }).length) };
}

test.for([
  [8, 384 * 1024, 8],
  [8, 384 * 1024 + 1, 7],
  [2, 384 * 1024, 2],
] as const)(
  'a page ends at 3 MB of JSON: of %i books of %i bytes it has %i',
  async ([count, bytes, expected], { table }) => {
    for (const id of range(1, count + 1)) await storeBook(table, { id, ...ofSize(id, bytes) });
    await setCounter(table, count + 1);

    const { books, continueAfter } = await readPage(table, 0, count);

    expect(books.map(({ id }) => id)).toEqual(range(1, expected));
    expect(continueAfter).toBe(expected);
  },
);

test('a page counts the bytes of its JSON', async ({ table }) => {
  // Each control character takes six bytes in JSON, and each of the others three in UTF-8.
  await storeBooks(table, [1, 2, 3], { ...emma, title: '\u0001'.repeat(135_000), author: '書'.repeat(85_000) });

  for (const id of [1, 2]) {
    const { books, continueAfter } = await readPage(table, id - 1, 10);
    expect([books.length, continueAfter], `after ${id - 1}`).toEqual(id === 1 ? [2, 2] : [2, undefined]);
  }
});

/** Stores items in a table in memory, whose pages end at `itemsOfPage` at the latest, and a counter with the last id. */
function storeInMemory(items: readonly Book[], itemsOfPage?: number): TableAccess {
  const memory = new MemoryTable(itemsOfPage);
  for (const item of items) memory.store({ ...bookKey(item.id), ...item, version: 'x' });
  memory.store({ ...counterKey, lastId: Math.max(...items.map(({ id }) => id)) });
  return openBySending(async (command: Command) => {
    const output = await memory.execute(command);
    return command instanceof QueryCommand ? respondTo(command, output) : output;
  });
}

test('a page has at least one book, however large', async () => {
  const twoLarge = [1, 2].map((id) => ({ id, ...emma, title: 'x'.repeat(4_000_000) }));

  const { books, continueAfter } = await readPage(storeInMemory(twoLarge), 0, 2);

  expect([books.length, continueAfter]).toEqual([1, 1]);
});

test('a page of many small database pages is read once', async ({ table }) => {
  const books = await storeBooks(table, range(1, 20));
  const { requests, access } = noteQueries(table, (input) => {
    input.Limit = 1;
  });

  const page = await readPage(access, 0, 19);

  expect(page).toEqual({ books: books.slice(0, 19), continueAfter: 19 });
  expect(requests).toHaveLength(20);
});

test('of a filter, lists and pages have the books that match, in each shard, and say whether others follow', async ({
  table,
}) => {
  const ids = [1, 2, 3, 9_999, 10_000, 20_001, 20_002];
  for (const id of ids) await storeBook(table, { id, ...emma, title: id % 2 ? 'Wuthering Heights' : 'Emma', year: id });
  await setCounter(table, 30_000);
  const odd = [1, 3, 9_999, 20_001];

  expect(await find(table, { title: 'heights' })).toEqual(odd);
  expect(await find(table, { title: 'heights', year: 9_999 })).toEqual([9_999]);
  expect(await find(table, { title: 'none' })).toEqual([]);
  for (const after of [0, ...odd]) {
    const following = odd.filter((id) => id > after);
    for (const limit of [1, 2, 3, 4]) {
      const { books, continueAfter } = await readPage(table, after, limit, { title: 'HEIGHTS' });
      expect(books.map(({ id }) => id)).toEqual(following.slice(0, limit));
      expect(continueAfter).toBe(following.length > limit ? following[limit - 1] : undefined);
    }
  }
});

test('a page of a filter reads whole Queries, as far ahead as a list, but none ahead of a first one that has all', async ({
  table,
}) => {
  await storeBooks(table, [1, 2, 3, 10_000, 20_000]);
  const { requests, access } = noteQueries(table, endAfterThree);
  const first = ['5000 books of shard 0 after 0', 'counter'];
  const next = ['5000 books of shard 0 after 3', ...[1, 2].map((shard) => `5000 books of shard ${shard} after 0`)];

  expect((await readPage(access, 0, 2, { title: 'emma' })).books).toHaveLength(2);
  expect(requests.splice(0)).toEqual(first);
  expect((await readPage(access, 0, 1, { title: 'none' })).books).toHaveLength(0);
  expect(requests.splice(0)).toEqual([...first, ...next]);
  expect(await find(access, { title: 'none' })).toEqual([]);
  expect(requests.splice(0)).toEqual([...first, ...next]);
});
