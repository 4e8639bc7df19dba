import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { test as base, expect, vi } from 'vitest';
import { counterKey } from '../../lib/dynamodb/keys.ts';
import { emma, openBooks, readCounter, setCounter, type TableAccess } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

// The delays between attempts take no time.
vi.mock(import('node:timers/promises'), { spy: true });

const tables = await useTables();
const test = base.extend('table', () => {
  vi.mocked(sleep).mockResolvedValue(undefined);
  return tables.open();
});

type Course = (draw: () => Promise<object>) => Promise<unknown>;

/** Opens the books for a client whose draws of ids take a course each, in turn. It notes the requests. */
function openWith({ client, tableName }: TableAccess, ...courses: readonly Course[]) {
  const left = [...courses];
  const requests: string[] = [];
  const send = (command: object, options: object) => {
    requests.push(command.constructor.name);
    const forward = () => client.send(command as never, options);
    const course = command instanceof UpdateCommand ? left.shift() : undefined;
    return course ? course(forward) : forward();
  };
  return { books: openBooks({ client: { send } as object as DynamoDBDocumentClient, tableName }), requests };
}

test('a draw whose response is lost leaves a gap, and nothing is read', async ({ table }) => {
  await setCounter(table, 10);
  const { books, requests } = openWith(table, async (draw) => {
    await draw();
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });

  expect((await books.create(emma)).book.id).toBe(12);
  expect(requests).toEqual(['UpdateCommand', 'UpdateCommand', 'PutCommand']);
});

/** Draws in a table that is empty, in which others then create something. */
const thenOthers = (act: () => Promise<unknown>): Course => {
  return (draw) =>
    draw().finally(async () => {
      await act();
    });
};

test('the first of two creates in an empty table makes the counter, and the other draws from it', async ({ table }) => {
  const { books } = openWith(
    table,
    thenOthers(() => openBooks(table).create(emma)),
  );

  expect((await books.create(emma)).book.id).toBe(2);
});

test('the highest id can be drawn', async ({ table }) => {
  const { books } = openWith(
    table,
    thenOthers(() => setCounter(table, Number.MAX_SAFE_INTEGER - 1)),
  );

  expect((await books.create(emma)).book.id).toBe(Number.MAX_SAFE_INTEGER);
  await expect(books.create(emma)).rejects.toThrow('the counter is at 2^53-1');
});

test('a counter that is lost between two attempts at a draw is not made again', async ({ table }) => {
  const { client, tableName } = table;
  const { books } = openWith(
    table,
    thenOthers(() => openBooks(table).create(emma)),
    async (draw) => {
      await client.send(new DeleteCommand({ TableName: tableName, Key: counterKey }));
      return draw();
    },
  );

  await expect(books.create(emma)).rejects.toThrow('the table has items and no counter');
  expect(await readCounter(table)).toBeUndefined();
});
