import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { v7 } from 'uuid';
import { test as base, expect, vi } from 'vitest';
import { BookNotFoundError, StorageUnavailableError, VersionMismatchError } from '../../lib/books/errors.ts';
import type { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { emma, listBooks, openBooks, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

type Send = () => Promise<unknown>;

const tables = await useTables();
const test = base.extend('table', () => tables.open()).extend('others', ({ table }) => openBooks(table));

/** More than half of an item. */
const half = 'x'.repeat(250_000);

function lose(): never {
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

/** Opens the books for a client whose writes of a kind take a course each, in turn; further ones are sent as usual. */
function openWith(
  table: TableAccess,
  kind: abstract new (...input: never[]) => object,
  ...courses: ((send: Send) => unknown)[]
) {
  const client = {
    send: async (command: never, options: never) => {
      const send = () => table.client.send(command, options);
      const course = (command as object) instanceof kind ? courses.shift() : undefined;
      return course ? course(send) : send();
    },
  };
  return openBooks({ client: client as object as DynamoDBDocumentClient, tableName: table.tableName });
}

const loseRequest = () => lose();
const loseResponse = async (send: Send) => {
  await send();
  lose();
};

/** What is stored of book 1, and its writes: each one has a version of its own. */
const read = (books: BookRepository) => books.get(1).catch((error: Error) => error.name);

test.for([
  ['request', loseRequest],
  ['response', loseResponse],
] as const)(
  'the second of two quick updates of a new book can lose its %s without a trace',
  async ([, course], { table, others }) => {
    await others.create(emma);
    await others.update(1, { year: 1 });

    const { book, version } = await openWith(table, UpdateCommand, course).update(1, { title: 'Persuasion' });

    expect(book).toEqual({ id: 1, ...emma, year: 1, title: 'Persuasion' });
    expect(await others.get(1)).toEqual({ book, version });
  },
);

test('an update whose response is lost is not carried out again after others, whose clocks are behind', async ({
  table,
  others,
}) => {
  await others.create(emma);
  const now = Date.now();
  const writeAt = (behindMs: number, title: string) => {
    vi.spyOn(Date, 'now').mockReturnValue(now + 10_000 - behindMs);
    return others.update(1, { title });
  };
  const update = openWith(table, UpdateCommand, async (send) => {
    await send();
    await writeAt(300, 'B');
    await writeAt(300, 'C');
    await writeAt(3_000, 'X');
    await writeAt(3_000, 'Y');
    lose();
  });
  vi.spyOn(Date, 'now').mockReturnValue(now + 10_000);

  await expect(update.update(1, { title: 'A' })).rejects.toThrow(StorageUnavailableError);

  expect((await others.get(1)).book.title).toBe('Y');
});

test('an update that a refused size follows may still be carried out, so that is no 413', async ({ table, others }) => {
  const Item = { ...bookKey(1), ...emma, writeToken: v7({ msecs: Date.now() - 60_000 }) };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  let held: Send = async () => {};
  const books = openWith(table, UpdateCommand, async (send) => {
    held = send;
    await others.update(1, { title: half });
    lose();
  });

  const updating = books.update(1, { author: half });

  await expect(updating).rejects.toThrow(StorageUnavailableError);
  await held().catch(() => {});
  expect((await others.get(1)).book.author).toBe(emma.author);
});

test('a lost update that others may have replaced is unknown', async ({ table, others }) => {
  await others.create(emma);
  const change = (course: (send: Send) => unknown) => openWith(table, UpdateCommand, course);
  const thenOthers = (write: () => Promise<unknown>) => async (send: Send) => {
    await send();
    await write();
    lose();
  };

  const replaced = change(thenOthers(() => others.update(1, { year: 2 }))).update(1, { year: 1 });
  await expect(replaced).rejects.toThrow(StorageUnavailableError);
  const deleted = change(thenOthers(() => others.delete(1))).update(1, { year: 3 });
  await expect(deleted).rejects.toThrow(StorageUnavailableError);
});

test('a lost deletion is true whatever others do', async ({ table, others }) => {
  for (const id of [1, 2, 3]) await others.create({ ...emma, year: id });
  const deletion = (id: number, course: (send: Send) => unknown) => openWith(table, UpdateCommand, course).delete(id);

  await deletion(1, loseResponse);
  await deletion(2, async () => {
    await others.update(2, { year: 0 });
    lose();
  });
  const overtaken = deletion(3, async () => {
    await others.delete(3);
    lose();
  });

  await expect(overtaken).rejects.toThrow(BookNotFoundError);
  expect(await listBooks(table)).toEqual([]);
});

test('with If-Match, a lost update that was not carried out is refused, and one that was is done', async ({
  table,
  others,
}) => {
  const { version = '' } = await others.create(emma);
  const update = (course: (send: Send) => unknown, named: string) =>
    openWith(table, UpdateCommand, course).update(1, { year: 1 }, [named]);

  const done = await update(loseResponse, version);
  expect(await others.get(1)).toEqual(done);

  const unknown = update(async () => {
    await others.update(1, { year: 2 });
    await others.update(1, { year: 3 });
    lose();
  }, done.version ?? '');
  await expect(unknown).rejects.toThrow(StorageUnavailableError);
  const refused = update((send) => send(), done.version ?? '');
  await expect(refused).rejects.toThrow(VersionMismatchError);
});

test('an update of a missing book that is lost may find a book when it arrives, so that is no 404', async ({
  table,
  others,
}) => {
  let held: Send = async () => {};
  const books = openWith(table, UpdateCommand, (send) => {
    held = send;
    lose();
  });
  const updating = books.update(1, { year: 1 });
  await expect(updating).rejects.toThrow(StorageUnavailableError);

  await others.create(emma);
  await held().catch(() => {});

  expect((await others.get(1)).book).toEqual({ id: 1, ...emma });
});

test.for([
  [undefined, PutCommand],
  ['key', TransactWriteCommand],
] as const)(
  'a create with the key %s that is lost and arrives late stores one book',
  async ([key, kind], { table, others }) => {
    let held: Send = async () => {};
    const books = openWith(table, kind, (send) => {
      held = send;
      lose();
    });

    const created = await books.create(emma, key);
    await held().catch(() => {});

    expect(await others.get(created.book.id)).toEqual({ book: created.book, version: created.version });
    expect(await listBooks(table)).toEqual([created.book]);
  },
);

test('a create that was carried out, lost and then changed by others is unknown, and no counter error', async ({
  table,
  others,
}) => {
  const books = openWith(table, PutCommand, async (send) => {
    await send();
    await others.update(1, { year: 1 });
    lose();
  });

  await expect(books.create(emma)).rejects.toThrow(StorageUnavailableError);
});

test('a response about another book is not used', async ({ table, others }) => {
  await others.create(emma);
  await others.create({ ...emma, title: 'Persuasion' });
  const other = await others.get(2);
  const { client, tableName } = table;
  const answerWithOther = () => client.send(new GetCommand({ TableName: tableName, Key: { shard: 0, id: 2 } }));

  expect(await openWith(table, GetCommand, answerWithOther).get(1)).toMatchObject({ book: { id: 1, ...emma } });
  const always = openWith(table, GetCommand, answerWithOther, answerWithOther, answerWithOther).get(1);
  await expect(always).rejects.toThrow(StorageUnavailableError);
  expect(await read(others)).not.toEqual(other);
});
