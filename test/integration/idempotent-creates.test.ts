import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { IdempotencyKeyUsedError, IdTakenError } from '../../lib/books/errors.ts';
import type { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { bookKey, claimKey } from '../../lib/dynamodb/keys.ts';
import {
  type BookTable,
  connect,
  emma,
  listBooks,
  openBooks,
  readCounter,
  setCounter,
} from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const key = 'the key';

const tables = await useTables();
let table: BookTable;
let books: BookRepository;

beforeEach(async () => {
  table = await tables.open();
  books = openBooks(table);
});

interface Command {
  readonly input: { readonly ConditionExpression?: string; readonly Key?: { readonly id?: number } };
}

/** A repository on whose requests something acts before they are sent, and after. */
function openWith(
  before: (command: Command) => unknown,
  { after, connection = table.client }: { after?: typeof before; connection?: typeof table.client } = {},
): BookRepository {
  const client = {
    async send(command: Command) {
      await before(command);
      const response = await connection.send(command as never);
      await after?.(command);
      return response;
    },
  };
  return openBooks({ client: client as unknown as DynamoDBDocumentClient, tableName: table.tableName });
}

/** A repository of a process that ends after this many requests; it notes their names. */
function dieAfter(count: number, sent: string[] = []): BookRepository {
  return openWith((command) => {
    if (sent.length === count) throw new Error('the process ended');
    sent.push(command.constructor.name);
  });
}

const createAndDie = (requests: number) =>
  expect(dieAfter(requests).create(emma, key)).rejects.toThrow('the process ended');

async function readClaim() {
  const command = new GetCommand({ TableName: table.tableName, Key: claimKey(key), ConsistentRead: true });
  return (await table.client.send(command)).Item;
}

const setExpiry = (expiresAt: number) =>
  table.client.send(
    new UpdateCommand({
      TableName: table.tableName,
      Key: claimKey(key),
      UpdateExpression: 'SET expiresAt = :expiresAt',
      ExpressionAttributeValues: { ':expiresAt': expiresAt },
    }),
  );

const nowInSeconds = () => Math.floor(Date.now() / 1000);

test('a create takes two requests, with a new key three, and a replay is one read', async () => {
  const sent: string[] = [];
  const repository = dieAfter(Infinity, sent);
  await repository.create(emma);
  await repository.create(emma, key);
  await repository.create(emma, key);

  expect(sent.map((name) => name.replace('Command', '')).join(' ')).toBe(
    'Update Put Get Update TransactWrite Get',
  );
});

test('a key with a book is refused for other fields, which draw no id', async () => {
  const { book } = await books.create(emma, key);

  await expect(books.create({ ...emma, year: 1816 }, key)).rejects.toThrow(IdempotencyKeyUsedError);

  expect(await listBooks(table)).toEqual([book]);
  expect(await readCounter(table)).toBe(1);
});

test('30 creates at once with one key and 3 kinds of fields store one book', async () => {
  const creates = Array.from({ length: 30 }, (_, index) =>
    books.create({ ...emma, year: emma.year + (index % 3) }, key),
  );
  const results = await Promise.allSettled(creates);

  const created = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const refused = results.flatMap((result) => (result.status === 'rejected' ? result.reason.name : []));
  expect(refused).toEqual(Array(20).fill('IdempotencyKeyUsedError'));
  expect(new Set(created.map(({ book, version }) => JSON.stringify([book, version]))).size).toBe(1);
  expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await listBooks(table)).toEqual([created[0]?.book]);
});

test.each([0, 1, 2])('a create whose process died after %i requests has stored nothing', async (requests) => {
  await createAndDie(requests);
  expect(await listBooks(table)).toEqual([]);

  const next = await books.create(emma, key);

  expect(next.replayed).toBe(false);
  expect(await listBooks(table)).toEqual([next.book]);
});

test.each([1, 2])('a create whose response was lost %i times is not a replay', async (times) => {
  const { proxy } = await tables.openThroughProxy();
  proxy.injectFault('TransactWriteItems', 'response lost', times);
  const through = openBooks({ client: connect(proxy.endpoint), tableName: table.tableName });

  const created = await through.create(emma, key);

  expect(created.replayed).toBe(false);
  expect(await books.create(emma, key)).toEqual({ ...created, replayed: true });
  expect(await listBooks(table)).toEqual([created.book]);
});

test('a book that is deleted while other requests with its key are under way stays deleted', async () => {
  const deleteOnce = async (command: Command) => {
    if (command.constructor.name === 'TransactWriteCommand')
      await books
        .create(emma, key)
        .then(({ book }) => books.delete(book.id))
        .catch(() => {});
  };

  const late = await openWith(deleteOnce).create(emma, key);

  expect(late.replayed).toBe(true);
  expect(await listBooks(table)).toEqual([]);
});

describe('a claim of a build before 1.0.0, which was stored before its book', () => {
  const storeClaim = async (done?: true) => {
    const { book, version } = await books.create(emma, key);
    const { done: _, ...claim } = (await readClaim()) ?? {};
    const Item = { ...claim, ...(done && { done }) };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
    return { book, version };
  };

  test('gets its book when the process had died in between', async () => {
    const { book } = await storeClaim();
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: bookKey(book.id) }));

    const completed = await books.create(emma, key);

    expect(completed).toMatchObject({ book, replayed: false });
    expect(await listBooks(table)).toEqual([book]);
    expect(await books.create(emma, key)).toEqual({ ...completed, replayed: true });
  });

  test.each([undefined, true] as const)('with a book and the mark %s is a replay', async (done) => {
    const stored = await storeClaim(done);

    expect(await books.create(emma, key)).toEqual({ ...stored, replayed: true });
    expect(await listBooks(table)).toEqual([stored.book]);
  });

  test('is refused for other fields', async () => {
    await storeClaim();

    await expect(books.create({ ...emma, year: 0 }, key)).rejects.toThrow(IdempotencyKeyUsedError);
  });
});

describe('a claim', () => {
  test('holds for 7 days, with what completes the create and no text of the book; the list leaves it out', async () => {
    const before = nowInSeconds();
    const { book, version } = await books.create(emma, key);

    const { expiresAt, ...claim } = (await readClaim()) ?? {};
    expect(claim).toEqual({
      ...claimKey(key),
      bookId: 1,
      writeToken: version,
      fingerprint: expect.stringMatching(/^[\w-]{43}$/),
      done: true,
    });
    expect(expiresAt - 7 * 86_400 - before).toBeGreaterThanOrEqual(0);
    expect(expiresAt - 7 * 86_400 - before).toBeLessThan(30);
    expect(await listBooks(table)).toEqual([book]);
  });

  test('that expires in a minute holds; expired, it counts as absent, for many creates at once', async () => {
    await books.create(emma, key);
    await setExpiry(nowInSeconds() + 60);
    expect(await books.create(emma, key)).toMatchObject({ book: { id: 1 }, replayed: true });
    await setExpiry(nowInSeconds());

    const fields = { ...emma, year: 0 };
    const created = await Promise.all(Array.from({ length: 20 }, () => books.create(fields, key)));

    expect(new Set(created.map(({ book }) => book.id)).size).toBe(1);
    expect(created[0]?.book.id).not.toBe(1);
    expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await listBooks(table)).toHaveLength(2);
  });
});

test('with a counter that was reset no book is overwritten, and the key stays unused', async () => {
  const other = await books.create(emma);
  await setCounter(table, 0);

  await expect(books.create(emma, key)).rejects.toThrow(IdTakenError);
  expect(await listBooks(table)).toEqual([other.book]);
  expect(await readClaim()).toBeUndefined();

  const created = await books.create({ ...emma, year: 0 }, key);
  expect(created).toMatchObject({ book: { id: 2 }, replayed: false });
});

test('a book with the drawn id that is deleted before it is read was another one: the counter is wrong', async () => {
  await books.create(emma);
  await setCounter(table, 0);
  const deleteBeforeRead = openWith(
    (command) => command instanceof GetCommand && command.input.Key?.id === 1 && table.repository.delete(1),
  );

  await expect(deleteBeforeRead.create(emma)).rejects.toThrow(IdTakenError);
});
