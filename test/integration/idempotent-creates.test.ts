import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { IdempotencyKeyUsedError, IdTakenError } from '../../lib/books/errors.ts';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { bookKey, claimKey, counterKey } from '../../lib/dynamodb/keys.ts';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { startFaultyProxy } from '../simulators/faulty-proxy.ts';
import {
  type BookTable,
  connect,
  createBookTable,
  emma,
  listBooks,
  readCounter,
  setCounter,
} from '../support/book-table.ts';

const key = 'the key';

let engine: Engine;
let table: BookTable;
let books: BookRepository;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  table = await createBookTable(engine.endpoint);
  books = new BookRepository(table.client, table.tableName);
});

/** What a create with a new key asks for: find the claim, draw an id, claim the key, store the book, mark it as done. */
const requestsOfCreate = ['GetCommand', 'UpdateCommand', 'PutCommand', 'PutCommand', 'UpdateCommand'];

/** A client of a process that ends after so many requests; it notes their names. */
function dieAfter(count: number, sent: string[] = []): DynamoDBDocumentClient {
  const client = {
    async send(command: GetCommand) {
      if (sent.length === count) throw new Error('the process ended');
      sent.push(command.constructor.name);
      return table.client.send(command);
    },
  };
  return client as unknown as DynamoDBDocumentClient;
}

const createAndDie = (requests: number) =>
  expect(new BookRepository(dieAfter(requests), table.tableName).create(emma, key)).rejects.toThrow(
    'the process ended',
  );

async function readClaim() {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.tableName, Key: claimKey(key), ConsistentRead: true }),
  );
  return Item;
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

describe('the requests of a create', () => {
  test('without a key: an id and the book', async () => {
    const sent: string[] = [];

    await new BookRepository(dieAfter(Infinity, sent), table.tableName).create(emma);

    expect(sent).toEqual(['UpdateCommand', 'PutCommand']);
  });

  test('with a new key: five, and a replay is one read', async () => {
    const sent: string[] = [];
    const repository = new BookRepository(dieAfter(Infinity, sent), table.tableName);

    await repository.create(emma, key);
    await repository.create(emma, key);

    expect(sent).toEqual([...requestsOfCreate, 'GetCommand']);
  });
});

describe('a key that was used', () => {
  test('the same fields give the same book again, and no other one', async () => {
    const first = await books.create(emma, key);
    const second = await books.create(emma, key);

    expect(first).toEqual({ book: { id: 1, ...emma }, version: expect.any(String), replayed: false });
    expect(second).toEqual({ ...first, replayed: true });
    expect(await listBooks(table)).toEqual([first.book]);
    expect(await readCounter(table)).toBe(1);
  });

  test('the book is the one that was created after it has been changed, and changed again', async () => {
    const first = await books.create(emma, key);
    await books.update(1, { title: 'Persuasion' });
    const changed = await books.update(1, { year: 1817 });

    expect(await books.create(emma, key)).toEqual({ ...first, replayed: true });
    expect(await books.get(1)).toEqual(changed);
  });

  test('a deleted book stays deleted', async () => {
    const first = await books.create(emma, key);
    await books.delete(1);

    expect(await books.create(emma, key)).toEqual({ ...first, replayed: true });
    expect(await listBooks(table)).toEqual([]);
  });

  test.each([
    { ...emma, title: 'emma' },
    { ...emma, author: '' },
    { ...emma, year: 1816 },
    { title: emma.author, author: emma.title, year: emma.year },
    { title: 'EmmaJane', author: ' Austen', year: emma.year },
  ])('other fields are refused, nothing is stored and no id is drawn: %j', async (fields) => {
    await books.create(emma, key);

    await expect(books.create(fields, key)).rejects.toThrow(IdempotencyKeyUsedError);

    expect(await listBooks(table)).toHaveLength(1);
    expect(await readCounter(table)).toBe(1);
  });

  test('other fields are refused as well when the first attempt died midway', async () => {
    await createAndDie(3);

    await expect(books.create({ ...emma, year: 0 }, key)).rejects.toThrow(IdempotencyKeyUsedError);

    expect(await listBooks(table)).toEqual([]);
  });

  test('another key with the same fields is another book', async () => {
    await books.create(emma, key);

    expect((await books.create(emma, `${key}'`)).book.id).toBe(2);
  });

  test('keys that are syntax of the mechanism are keys like others', async () => {
    const keys = ['__proto__', 'constructor', ':value', '#shard', '["a"]', '-1', '0', '{"S":"x"}'];

    for (const each of keys) await books.create(emma, each);
    const replays = await Promise.all(keys.map((each) => books.create(emma, each)));

    expect(replays.map(({ book }) => book.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('at the same time', () => {
  test('30 creates with one key are one book, and all are told the same', async () => {
    const created = await Promise.all(Array.from({ length: 30 }, () => books.create(emma, key)));

    const told = new Set(created.map(({ book, version }) => JSON.stringify([book, version])));
    expect(told.size).toBe(1);
    expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await listBooks(table)).toEqual([created[0]?.book]);
  });

  test('30 creates with one key and 3 kinds of fields: one kind gets the key, the others are refused', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => books.create({ ...emma, year: index % 3 }, key)),
    );

    const created = results.filter((result) => result.status === 'fulfilled');
    const refused = results.filter((result) => result.status === 'rejected');
    expect(created).toHaveLength(10);
    expect(new Set(created.map(({ value }) => JSON.stringify(value.book))).size).toBe(1);
    expect(new Set(refused.map(({ reason }) => reason.name))).toEqual(new Set(['IdempotencyKeyUsedError']));
    expect(await listBooks(table)).toEqual([created[0]?.value.book]);
  });

  test('creates after a first attempt that died before it stored the book', async () => {
    await createAndDie(3);
    const claim = await readClaim();

    const created = await Promise.all(Array.from({ length: 10 }, () => books.create(emma, key)));

    expect(new Set(created.map(({ book }) => book.id))).toEqual(new Set([claim?.bookId]));
    expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await listBooks(table)).toEqual([{ id: claim?.bookId, ...emma }]);
  });
});

describe.each([0, 1, 2, 3, 4])('an attempt that died after %i requests', (requests) => {
  test('is completed by the next one: one book', async () => {
    await createAndDie(requests);

    const next = await books.create(emma, key);
    const replay = await books.create(emma, key);

    expect(next.replayed).toBe(requests === 4);
    expect(replay).toEqual({ ...next, replayed: true });
    expect(await listBooks(table)).toEqual([next.book]);
    expect(await readClaim()).toMatchObject({ done: true, bookId: next.book.id });
  });

  test('is completed once: a book that was deleted after that stays deleted', async () => {
    await createAndDie(requests);
    const next = await books.create(emma, key);
    await books.delete(next.book.id);

    expect(await books.create(emma, key)).toEqual({ ...next, replayed: true });
    expect(await listBooks(table)).toEqual([]);
  });
});

test('a book that was stored and changed, before its key was marked, keeps its change, and the create its response', async () => {
  await createAndDie(4);
  const stored = await books.get(1);
  await books.update(1, { title: 'Persuasion' });
  const changed = await books.update(1, { year: 1817 });

  expect(await books.create(emma, key)).toEqual({ ...stored, replayed: true });
  expect(await books.get(1)).toEqual(changed);
});

describe('a claim', () => {
  test('holds 7 days, what is needed to complete the create, and no text of the book', async () => {
    const before = nowInSeconds();
    const { version } = await books.create(emma, key);

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
  });

  test('is no book of the list, and shifts no page of it', async () => {
    for (const each of ['a', 'b', 'c']) await books.create(emma, each);

    expect((await listBooks(table)).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  test('that has expired counts as absent, though the database has not removed it yet', async () => {
    await books.create(emma, key);
    await setExpiry(nowInSeconds());

    const other = await books.create({ ...emma, year: 0 }, key);

    expect(other).toMatchObject({ book: { id: 2, year: 0 }, replayed: false });
    expect(await books.create({ ...emma, year: 0 }, key)).toEqual({ ...other, replayed: true });
    expect(await listBooks(table)).toHaveLength(2);
  });

  test('that has expired gives one book when it is used again many times at once', async () => {
    await books.create(emma, key);
    await setExpiry(1);

    const created = await Promise.all(Array.from({ length: 20 }, () => books.create(emma, key)));

    expect(new Set(created.map(({ book }) => book.id)).size).toBe(1);
    expect(created[0]?.book.id).not.toBe(1);
    expect(await listBooks(table)).toHaveLength(2);
  });

  test('that expires soon still holds', async () => {
    await books.create(emma, key);
    await setExpiry(nowInSeconds() + 60);

    expect(await books.create(emma, key)).toMatchObject({ book: { id: 1 }, replayed: true });
  });

  test('that was removed before the book was stored is not made again by its mark', async () => {
    const client = {
      async send(command: PutCommandLike) {
        const result = await table.client.send(command as never);
        if (command.input.ConditionExpression === 'attribute_not_exists(id)') {
          await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: claimKey(key) }));
        }
        return result;
      },
    } as unknown as DynamoDBDocumentClient;

    await new BookRepository(client, table.tableName).create(emma, key);

    expect(await readClaim()).toBeUndefined();
  });
});

interface PutCommandLike {
  readonly input: { readonly ConditionExpression?: string };
}

describe('a counter that was reset', () => {
  test('no book is overwritten or taken for the new one; once the counter is right, the key gets another id', async () => {
    const other = await books.create(emma);
    await setCounter(table, 0);

    await expect(books.create(emma, key)).rejects.toThrow(IdTakenError);
    expect(await listBooks(table)).toEqual([other.book]);

    const created = await books.create(emma, key);
    expect(created).toMatchObject({ book: { id: 2 }, replayed: false });
    expect(await books.create(emma, key)).toEqual({ ...created, replayed: true });
  });

  test('the key that could not be used is removed by time to live, which passes over what expired 5 years ago', async () => {
    await books.create(emma);
    await setCounter(table, 0);
    await expect(books.create(emma, key)).rejects.toThrow(IdTakenError);

    const { expiresAt } = (await readClaim()) ?? {};

    expect(expiresAt).toBeLessThanOrEqual(nowInSeconds());
    expect(expiresAt).toBeGreaterThan(nowInSeconds() - 86_400);
  });
});

/** A client of a repository whose read of book 1 finds that another client has just deleted it. */
const deleteBeforeRead = (connection = table.client) => {
  const client = {
    async send(command: GetCommand) {
      if (command instanceof GetCommand && command.input.Key?.id === 1) await table.repository.delete(1);
      return connection.send(command);
    },
  };
  return new BookRepository(client as unknown as DynamoDBDocumentClient, table.tableName);
};

describe('a book that is there when it is to be stored, and deleted a moment later', () => {
  test('was stored by the earlier request with the key', async () => {
    await createAndDie(4);
    const stored = await books.get(1);

    expect(await deleteBeforeRead().create(emma, key)).toEqual({ ...stored, replayed: expect.any(Boolean) });

    expect(await listBooks(table)).toEqual([]);
    expect(await books.create(emma, key)).toEqual({ ...stored, replayed: true });
  });

  test('was stored by an attempt whose response was lost', async () => {
    const proxy = await startFaultyProxy(engine.endpoint);
    proxy.injectFault('PutItem', 'response lost', 1);

    const { book } = await deleteBeforeRead(connect(proxy.endpoint)).create(emma);

    expect(book).toEqual({ id: 1, ...emma });
    expect(await listBooks(table)).toEqual([]);
    await proxy.stop();
  });

  test('was another one without a key: the counter is wrong', async () => {
    await books.create(emma);
    await setCounter(table, 0);

    await expect(deleteBeforeRead().create(emma)).rejects.toThrow(IdTakenError);
  });
});

test('the counter and the book of a key are where they always were', async () => {
  await books.create(emma, key);

  const read = async (Key: Record<string, number>) =>
    (await table.client.send(new GetCommand({ TableName: table.tableName, Key }))).Item;
  expect(await read(counterKey)).toEqual({ ...counterKey, lastId: 1 });
  expect(await read(bookKey(1))).toEqual({ ...bookKey(1), ...emma, writeToken: expect.any(String) });
});
