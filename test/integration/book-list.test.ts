import { setImmediate } from 'node:timers/promises';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { NumberValueImpl as NumberValue } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { test as base, expect, onTestFinished, vi } from 'vitest';
import type { Book } from '../../lib/books/book.ts';
import type { Selection } from '../../lib/dynamodb/books/book-list.ts';
import { repairAdvice } from '../../lib/dynamodb/books/counter.ts';
import { CounterError, StorageUnavailableError } from '../../lib/dynamodb/connection/errors.ts';
import { counterKey } from '../../lib/dynamodb/table/keys.ts';
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

/** Three to a database page of 1 MB, so that twelve of them are all that is held in memory. */
const largeBook = { ...emma, title: 'x'.repeat(300_000) };

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

/** Reads a page; `changeTable` is called before its books are read. */
async function readPage(table: TableAccess, after: number, limit: number, changeTable = async () => {}) {
  const { books: chunks, continueAfter } = await openList(table).readPage({ after }, limit);
  await changeTable();
  const books = (await Array.fromAsync(chunks)).flatMap((json): Book[] => JSON.parse(`[${json}]`));
  return { books, continueAfter };
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

test('the SDK converts nothing of a list: a number that it refuses is one of the wrong type', async ({ table }) => {
  await storeBooks(table, [1], { ...emma, title: NumberValue.from('9007199254740993.5') as never });

  await expect(listBooks(table)).rejects.toThrow('book 1 has a "title" of the wrong type');
});

// 9,999 is the last id of the first shard, and some shards are empty; ids as texts would put 10 before 3.
test('the list has the order of ids, and any page says whether books follow, deleted ones aside', async ({ table }) => {
  const ids = [3, 4, 10, 9_999, 10_000, 20_001, 20_002, 70_000];
  const books = await storeBooks(table, ids);
  for (const { id } of await storeBooks(table, [5, 6, 7, 8, 9, 70_001])) await table.repository.delete(id);
  const afters = new Set([0, ...ids.flatMap((id) => [id - 1, id, id + 1]), Number.MAX_SAFE_INTEGER]);

  for (const after of afters) {
    const following = books.filter(({ id }) => id > after);
    expect(await listBooks(table, after)).toEqual(following);
    const { length } = following;
    for (const limit of [1, length - 1, length, length + 1].filter((each) => each > 0)) {
      const page = following.slice(0, limit);
      const continueAfter = following.length > limit ? page.at(-1)?.id : undefined;
      expect(await readPage(table, after, limit)).toEqual({ books: page, continueAfter });
    }
  }
});

test('books too large to be held all at once make pages like others', async ({ table }) => {
  const books = await storeBooks(table, range(1, 30), largeBook);

  // Around what is held, and around the end.
  const pages = [11, 12, 13, 14, 29, 30, 31].map((limit) => [0, limit]);
  for (const [after = 0, limit = 0] of [...pages, [13, 13]]) {
    const end = after + limit;
    expect(await readPage(table, after, limit)).toEqual({
      books: books.slice(after, end),
      continueAfter: end < 30 ? end : undefined,
    });
  }
});

/** Notes the inputs of all Queries, which `change` may change, and the reads of the counter. */
function noteQueries(table: TableAccess, change = (_input: QueryCommandInput) => {}) {
  const inputs: QueryCommandInput[] = [];
  const requests: string[] = [];
  const send = (command: object, options: never) => {
    if (command instanceof GetCommand) requests.push('counter');
    if (command instanceof QueryCommand) {
      inputs.push({ ...command.input });
      requests.push(describeQuery(command.input));
      change(command.input);
    }
    return table.client.send(command as never, options);
  };
  return { inputs, requests, access: { ...table, client: { send } as object as DynamoDBDocumentClient } };
}

/** For example `5 books of shard 0 after 7`, or `ids` when no other attribute is asked for. */
function describeQuery(input: QueryCommandInput): string {
  const { ':shard': shard, ':after': after } = input.ExpressionAttributeValues ?? {};
  const what = input.ProjectionExpression === '#id' ? 'ids' : 'books';
  return `${input.Limit} ${what} of shard ${shard} after ${input.ExclusiveStartKey?.id ?? after}`;
}

/** Ends database pages where no engine ends them earlier. */
function endAfterThree(input: QueryCommandInput): void {
  input.Limit = 3;
}

test.for<[after: number, requests: string[]]>([
  [
    0,
    [
      ...['5000 books of shard 0 after 0', 'counter'],
      ...[1, 2, 3].map((shard) => `5000 books of shard ${shard} after 0`),
      '5000 books of shard 0 after 3',
      ...[4, 5].map((shard) => `5000 books of shard ${shard} after 0`),
      '5000 books of shard 2 after 20002',
    ],
  ],
  [39_999, ['5000 books of shard 4 after 39999', 'counter', '5000 books of shard 5 after 39999']],
])(
  'a list reads its first page beside the counter, and three shards ahead: after %i',
  async ([after, expected], { table }) => {
    await storeBooks(table, [1, 2, 3, 4, 20_000, 20_001, 20_002, 20_003, 50_000]);
    const { requests, access } = noteQueries(table, endAfterThree);

    await listBooks(access, after);

    expect(requests).toEqual(expected);
  },
);

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

test('a page after the last id of a shard begins with the next shard', async ({ table }) => {
  await storeBooks(table, [9_999, 10_000]);
  const { requests, access } = noteQueries(table);

  await readPage(access, 9_999, 1);

  expect(requests).toEqual(['2 books of shard 1 after 9999', 'counter']);
});

test('of the books that do not fit in memory, a page reads only the ids before its first book is sent', async ({
  table,
}) => {
  await storeBooks(table, range(1, 30), largeBook);
  const { requests, access } = noteQueries(table, endAfterThree);

  const { books, continueAfter } = await openList(access).readPage({ after: 0 }, 21);

  expect(continueAfter).toBe(21);
  const held = ['22 books of shard 0 after 0', '88 books of shard 0 after 3', '352 books of shard 0 after 6'];
  const ids = ['10 ids of shard 0 after 12', '40 ids of shard 0 after 15', '160 ids of shard 0 after 18'];
  const last = ['1408 books of shard 0 after 9', ...ids, '640 ids of shard 0 after 21'];
  expect(requests.splice(0)).toEqual([...held, ...last]);
  await Array.fromAsync(books);
  expect(requests).toEqual([12, 15, 18].map((after) => `5000 books of shard 0 after ${after}`));
});

test.for([
  [8, 'fit'],
  [9, 'do not fit'],
] as const)('3 MB of JSON fit in memory: %i books of 384 KB %s', async ([count], { table }) => {
  const empty = JSON.stringify({ id: 1, ...emma, title: '', year: 1 });
  await storeBooks(table, range(1, count), { ...emma, title: 'x'.repeat(384 * 1024 - empty.length) });
  const { requests, access } = noteQueries(table, (input) => {
    input.Limit = 1;
  });

  await openList(access).readPage({ after: 0 }, 20);

  const kinds = requests.map((request) => request.match(/books|ids|counter/)?.[0]);
  const end = count === 8 ? ['books', 'counter'] : ['ids', 'counter'];
  expect(kinds).toEqual([...Array(count).fill('books'), ...end]);
});

test('a page of many small database pages is read once, and asks for no more books at once than the whole list', async ({
  table,
}) => {
  const books = await storeBooks(table, range(1, 20));
  const { inputs, access } = noteQueries(table, (input) => {
    input.Limit = 1;
  });

  const page = await readPage(access, 0, 19);

  expect(page).toEqual({ books: books.slice(0, 19), continueAfter: 19 });
  expect(inputs).toHaveLength(20);
  expect(Math.max(...inputs.map(({ Limit: limit = Infinity }) => limit))).toBeLessThanOrEqual(5_000);
});

test('each Query of a list has every condition of the selection, in each shard, ahead and when it is repeated', async ({
  table,
}) => {
  // A further condition needs a value here.
  const selection: Required<Selection> = { after: 5 };
  await storeBooks(table, [...range(1, 30), ...range(1, 6).map((shard) => shard * 10_000)], largeBook);
  const { inputs, access } = noteQueries(table);
  /** The conditions besides the place. Only reading on after held books raises `:after`. */
  const conditionsOf = ({ ExpressionAttributeValues: values = {}, ...input }: QueryCommandInput, isReadOn: boolean) => {
    const { ':shard': _shard, ':after': after, ...others } = values;
    return [input.KeyConditionExpression, input.FilterExpression, others, isReadOn ? after >= 5 : after];
  };

  for await (const _ of openList(access).readAll(selection));
  const ofAll = inputs.splice(0);
  const { books } = await openList(access).readPage(selection, 28);
  for await (const _ of books);

  const [first = []] = ofAll.map((input) => conditionsOf(input, false));
  expect(ofAll.map((input) => conditionsOf(input, false))).toEqual(ofAll.map(() => first));
  expect(new Set(ofAll.map((input) => input.ExpressionAttributeValues?.[':shard'])).size).toBe(7);
  expect(inputs.map((input) => conditionsOf(input, true))).toEqual(inputs.map(() => [...first.slice(0, -1), true]));
  expect(new Set(inputs.map((input) => input.ProjectionExpression)).size).toBe(2);
});

test('large books that come and go while their page is sent leave its end as it was', async ({ table }) => {
  const ids = range(1, 31).filter((id) => id !== 17);
  await storeBooks(table, ids, largeBook);
  const { requests, access } = noteQueries(table, endAfterThree);

  const { books, continueAfter } = await readPage(access, 0, 20, async () => {
    requests.splice(0);
    await table.repository.delete(19);
    await table.repository.delete(21);
    await storeBook(table, { id: 17, ...emma });
  });

  expect(continueAfter).toBe(21);
  expect(books.map(({ id }) => id)).toEqual([...range(1, 16), 18, 20]);
  // The last book of the page is gone. The first one after it, 22, ends the page.
  expect(requests).toEqual([12, 15, 18, 21].map((after) => `5000 books of shard 0 after ${after}`));
});
