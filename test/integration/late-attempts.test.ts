import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteCommand, GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, expect, vi } from 'vitest';
import { BookNotFoundError } from '../../lib/books/errors.ts';
import { OutcomeUnknownError, StorageUnavailableError } from '../../lib/dynamodb/connection/errors.ts';
import { bookKey } from '../../lib/dynamodb/table/keys.ts';
import { emma, openBooks } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { openWithInterceptors } from '../support/table-by-request.ts';

// The delays between attempts take no time.
vi.mock(import('node:timers/promises'), { spy: true });

const tables = await useTables();
const test = base
  .extend('table', async () => {
    vi.mocked(sleep).mockResolvedValue(undefined);
    return tables.open();
  })
  .extend('others', ({ table }) => openBooks(table));

function lose(): never {
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

test('a response to an update that holds another version than the one written is not used', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
    await send();
    await others.update(1, { year: 2 });
    // Of another request for the same book.
    return { Attributes: { shard: 0, id: 1, ...emma, year: 2, version: (await others.get(1)).version } };
  });

  // The book as read has another version: nobody can know whether this one was carried out before.
  await expect(books.update(1, { year: 1 })).rejects.toThrow(OutcomeUnknownError);
});

test('a response about another book is not used', async ({ table, others }) => {
  const { book } = await others.create(emma);
  await others.create({ ...emma, title: 'Persuasion' });
  const sendOther = () => table.client.send(new GetCommand({ TableName: table.tableName, Key: bookKey(2) }));
  const sendOtherShard = async () => ({ Item: { shard: 2, id: 1, ...emma, title: 'Of another shard' } });

  const { books } = openWithInterceptors(table, GetCommand, sendOther, sendOtherShard);
  expect((await books.get(1)).book).toEqual(book);
  const failing = openWithInterceptors(table, GetCommand, sendOther, sendOther, sendOther).books;
  await expect(failing.get(1)).rejects.toThrow(StorageUnavailableError);
});

test('a response to an update that calls the book deleted is not used', async ({ table, others }) => {
  await others.create(emma);
  const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
    const { Attributes: attributes } = (await send()) as { readonly Attributes?: object };
    return { Attributes: { ...attributes, expiresAt: 1 } };
  });

  expect((await books.update(1, { year: 1 })).book).toEqual({ id: 1, ...emma, year: 1 });
});

const loseRequest = async () => lose();

test.for([
  ['no version', undefined],
  ['a version of another program, which the client names', 'q83vEjRWeJCrze8S'],
])('the request of an update can be lost where the book has %s', async ([, version], { table }) => {
  const Item = { ...bookKey(1), ...emma, ...(version && { version }) };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  const { books } = openWithInterceptors(table, UpdateCommand, loseRequest, loseRequest);
  const versions = version === undefined ? undefined : [version];

  expect((await books.update(1, { year: 1 }, versions)).book).toEqual({ id: 1, ...emma, year: 1 });
});

test.for<[string, object]>([
  ['a version', { version: 'x' }],
  ['no version', {}],
])(
  'a lost update of a book with %s is not made again over a write that followed it',
  async ([, version], { table, others }) => {
    await table.client.send(
      new PutCommand({ TableName: table.tableName, Item: { ...bookKey(1), ...emma, ...version } }),
    );
    const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
      await send();
      await others.update(1, { year: 2 });
      lose();
    });

    await expect(books.update(1, { year: 1 })).rejects.toThrow(OutcomeUnknownError);
    expect((await others.get(1)).book.year).toBe(2);
  },
);

test('an update of a book without a version stores nothing where another program has removed the book', async ({
  table,
  others,
}) => {
  await table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...bookKey(1), ...emma } }));
  const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: bookKey(1) }));
    return send();
  });

  await expect(books.update(1, { year: 1 })).rejects.toThrow(BookNotFoundError);
  await expect(others.get(1)).rejects.toThrow(BookNotFoundError);
});

test('an update that arrives late undoes nothing', async ({ table, others }) => {
  await others.create(emma);
  let arrive = async (): Promise<unknown> => undefined;
  const hold = async (send: () => Promise<object>) => {
    arrive = send;
    return lose();
  };
  const { books } = openWithInterceptors(table, UpdateCommand, hold, hold, hold);

  await expect(books.update(1, { year: 1 })).rejects.toThrow(OutcomeUnknownError);
  await others.update(1, { year: 2 });

  await expect(arrive()).rejects.toThrow('The conditional request failed');
  expect((await others.get(1)).book.year).toBe(2);
});

test('a lost create whose id a book without a version has is unknown', async ({ table }) => {
  const { books } = openWithInterceptors(table, PutCommand, async () => {
    await table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...bookKey(1), ...emma } }));
    lose();
  });

  await expect(books.create(emma)).rejects.toThrow(OutcomeUnknownError);
});

test.for([
  [undefined, PutCommand],
  ['a key', TransactWriteCommand],
] as const)('a create with the key %s whose attempts are all lost is unknown', async ([key, command], { table }) => {
  const lost = Array<typeof loseRequest>(3).fill(loseRequest);
  const { books } = openWithInterceptors(table, command, ...lost);

  await expect(books.create(emma, key)).rejects.toThrow(OutcomeUnknownError);
});

test('a deletion of which nobody can know whether it will arrive is unknown, and one that others preceded is not', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const lost = Array<typeof loseRequest>(3).fill(loseRequest);
  const unknown = openWithInterceptors(table, UpdateCommand, ...lost).books;
  const preceded = openWithInterceptors(table, UpdateCommand, ...lost.slice(1), async () => {
    await others.delete(1);
    return lose();
  }).books;

  await expect(unknown.delete(1)).rejects.toThrow(OutcomeUnknownError);
  await expect(preceded.delete(1)).rejects.toThrow(BookNotFoundError);
});

test('a deletion whose attempts are all lost finds no book where another program has removed it', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const { books } = openWithInterceptors(table, UpdateCommand, loseRequest, loseRequest, async () => {
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: bookKey(1) }));
    return lose();
  });

  await expect(books.delete(1)).rejects.toThrow(BookNotFoundError);
});

test('a deletion whose request is lost deletes what others have written meanwhile', async ({ table, others }) => {
  await others.create(emma);
  const { books } = openWithInterceptors(table, UpdateCommand, async () => {
    await others.update(1, { year: 2 });
    return lose();
  });

  await books.delete(1);

  await expect(others.get(1)).rejects.toThrow(BookNotFoundError);
});

test('an update that arrives twice, with a write of others between, has two versions', async ({ table, others }) => {
  await others.create(emma);
  let first: string | undefined;
  const { books } = openWithInterceptors(table, UpdateCommand, async (send) => {
    await send();
    first = (await others.get(1)).version;
    await others.update(1, { year: 2 });
    return send();
  });

  const { book, version } = await books.update(1, { title: 'Persuasion' });

  expect(book).toEqual({ id: 1, ...emma, title: 'Persuasion', year: 2 });
  expect(version).not.toBe(first);
});

test('an update that others precede again and again waits longer each time', async ({ table, others }) => {
  await others.create(emma);
  vi.spyOn(Math, 'random').mockReturnValue(1);
  vi.mocked(sleep).mockClear();
  const precede = async (send: () => Promise<object>) => {
    await others.update(1, { year: 2 });
    return send();
  };
  const { books } = openWithInterceptors(table, UpdateCommand, precede, precede, precede);

  await books.update(1, { title: 'Persuasion' });

  expect(vi.mocked(sleep).mock.calls.map(([delayMs]) => delayMs)).toEqual([100, 200, 400]);
});
