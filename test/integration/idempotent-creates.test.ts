import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { IdempotencyKeyUsedError, IdTakenError } from '../../lib/books/errors.ts';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { claimKey } from '../../lib/dynamodb/keys.ts';
import { type BookTable, connect, emma, listBooks, readCounter, setCounter } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const key = 'the key';

const tables = useTables();
let table: BookTable;
let books: BookRepository;

beforeEach(async () => {
  table = await tables.open();
  books = new BookRepository(table.client, table.tableName);
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
  return new BookRepository(client as unknown as DynamoDBDocumentClient, table.tableName);
}

/** A repository of a process that ends after so many requests; it notes their names. */
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

test('a create takes two requests, with a new key five, and a replay is one read', async () => {
  const sent: string[] = [];
  const repository = dieAfter(Infinity, sent);
  await repository.create(emma);
  await repository.create(emma, key);
  await repository.create(emma, key);

  expect(sent.map((name) => name.replace('Command', '')).join(' ')).toBe(
    'Update Put Get Update Put Put Update Get',
  );
});

test('a key whose first attempt died is refused for other fields, which draw no id', async () => {
  await createAndDie(3);

  await expect(books.create({ ...emma, year: 1816 }, key)).rejects.toThrow(IdempotencyKeyUsedError);

  expect(await listBooks(table)).toEqual([]);
  expect(await readCounter(table)).toBe(1);
});

test('30 creates at once with a key whose first attempt died, and 3 kinds of fields: one book', async () => {
  await createAndDie(3);
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

test.each([0, 1, 2, 3, 4])('an attempt that died after %i requests is completed once', async (requests) => {
  await createAndDie(requests);

  const next = await books.create(emma, key);

  const replay = { ...next, replayed: true };
  expect(next.replayed).toBe(requests === 4);
  expect(await listBooks(table)).toEqual([next.book]);
  expect(await readClaim()).toMatchObject({ done: true, bookId: next.book.id });
  expect(await books.create(emma, key)).toEqual(replay);
  await books.delete(next.book.id);
  expect(await books.create(emma, key)).toEqual(replay);
  expect(await listBooks(table)).toEqual([]);
});

test('a book that the next attempt stored, with its response lost, is no replay', async () => {
  await createAndDie(3);
  const { proxy } = await tables.openThroughProxy();
  proxy.injectFault('PutItem', 'response lost', 1);

  const next = await new BookRepository(connect(proxy.endpoint), table.tableName).create(emma, key);

  expect(next).toMatchObject({ book: { id: 1 }, replayed: false });
});

test('a book that was changed before its key was marked as done keeps its change', async () => {
  await createAndDie(4);
  const stored = await books.get(1);
  await books.update(1, { title: 'Persuasion' });
  const changed = await books.update(1, { year: 1817 });

  expect(await books.create(emma, key)).toEqual({ ...stored, replayed: true });
  expect(await books.get(1)).toEqual(changed);
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

  test('that was removed before the book was stored is not made again when it is marked as done', async () => {
    const after = ({ input }: Command) =>
      input.ConditionExpression === 'attribute_not_exists(id)' &&
      table.client.send(new DeleteCommand({ TableName: table.tableName, Key: claimKey(key) }));

    await openWith(() => {}, { after }).create(emma, key);

    expect(await readClaim()).toBeUndefined();
  });
});

test('with a counter that was reset no book is overwritten; the key is released, and gets another id', async () => {
  const other = await books.create(emma);
  await setCounter(table, 0);

  await expect(books.create(emma, key)).rejects.toThrow(IdTakenError);
  expect(await listBooks(table)).toEqual([other.book]);
  // Time to live passes over what expired 5 years ago.
  const { expiresAt } = (await readClaim()) ?? {};
  expect(expiresAt).toBeLessThanOrEqual(nowInSeconds());
  expect(expiresAt).toBeGreaterThan(nowInSeconds() - 86_400);

  const created = await books.create(emma, key);
  expect(created).toMatchObject({ book: { id: 2 }, replayed: false });
  expect(await books.create(emma, key)).toEqual({ ...created, replayed: true });
});

describe('a book that is there when it is to be stored, and deleted before it is read', () => {
  const deleteBeforeRead = (connection = table.client) =>
    openWith(
      (command) => command instanceof GetCommand && command.input.Key?.id === 1 && table.repository.delete(1),
      { connection },
    );

  test('was stored by the earlier request with the key', async () => {
    await createAndDie(4);
    const stored = await books.get(1);

    expect(await deleteBeforeRead().create(emma, key)).toEqual({ ...stored, replayed: expect.any(Boolean) });

    expect(await listBooks(table)).toEqual([]);
    expect(await books.create(emma, key)).toEqual({ ...stored, replayed: true });
  });

  test('was stored by an attempt whose response was lost', async () => {
    const { proxy } = await tables.openThroughProxy();
    proxy.injectFault('PutItem', 'response lost', 1);

    const { book } = await deleteBeforeRead(connect(proxy.endpoint)).create(emma);

    expect(book).toEqual({ id: 1, ...emma });
    expect(await listBooks(table)).toEqual([]);
  });

  test('was another one without a key: the counter is wrong', async () => {
    await books.create(emma);
    await setCounter(table, 0);

    await expect(deleteBeforeRead().create(emma)).rejects.toThrow(IdTakenError);
  });
});
