import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { test as base, beforeEach, expect, vi } from 'vitest';
import { unknownField } from '../../conformance/a-book.ts';
import type { BookRepository } from '../../lib/dynamodb/books/book-repository.ts';
import { bookKey } from '../../lib/dynamodb/table/keys.ts';
import { serverError } from '../fakes/faults.ts';
import { emma, listBooks, openBooks } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { openWithInterceptors } from '../support/table-by-request.ts';

const pauses = vi.hoisted(() => ({ count: 0 }));

vi.mock(import('node:timers/promises'), async (importOriginal) => {
  const timers = await importOriginal();
  const count = () => {
    pauses.count += 1;
    return timers.setImmediate();
  };
  return { ...timers, setTimeout: count as typeof timers.setTimeout };
});

beforeEach(() => {
  pauses.count = 0;
});

const tables = await useTables();
const test = base
  .extend('opened', () => tables.openThroughProxy())
  .extend('proxy', ({ opened }) => opened.proxy)
  .extend('table', ({ opened }) => opened.table)
  .extend('books', ({ opened }) => openBooks(opened.proxied));

/** A request that is refused: what it takes of the database, and its error. Book 1 has changed, and book 2 is deleted. */
type Case = [
  request: string,
  send: (books: BookRepository, first: string, second: string) => Promise<unknown>,
  uses: string,
  error: string,
];

const tooLarge = { title: 'x'.repeat(400 * 1024) };

const refused: Case[] = [
  [
    'an update of another version',
    (books, first) => books.update(1, { year: 1 }, [first]),
    'GetItem',
    'VersionMismatch',
  ],
  ['a deletion of another version', (books, first) => books.delete(1, [first]), 'GetItem', 'VersionMismatch'],
  [
    'an update of none of several versions',
    (books, first) => books.update(1, { year: 1 }, [first, 'other']),
    'GetItem',
    'VersionMismatch',
  ],
  [
    'an update of one of several versions',
    (books, first, second) => books.update(1, { year: 1 }, [first, second]),
    'GetItem, UpdateItem',
    '',
  ],
  [
    'an update of another version to nothing',
    (books, first) => books.update(1, {}, [first]),
    'GetItem',
    'VersionMismatch',
  ],
  ['an update that is too large for any book', (books) => books.update(1, tooLarge), 'GetItem', 'ItemTooLarge'],
  ['an update of no book that is too large for any', (books) => books.update(3, tooLarge), 'GetItem', 'BookNotFound'],
  ['an update of a deleted book', (books) => books.update(2, { year: 1 }), 'GetItem', 'BookNotFound'],
  ['a deletion of a deleted book', (books) => books.delete(2), 'GetItem', 'BookNotFound'],
  ['an update of no book', (books) => books.update(3, { year: 1 }), 'GetItem', 'BookNotFound'],
  ['a deletion of no book', (books) => books.delete(3), 'GetItem', 'BookNotFound'],
  [
    'a create with a key of other fields',
    (books) => books.create({ ...emma, year: 1 }, 'key'),
    'UpdateItem, TransactWriteItems',
    'IdempotencyKeyUsed',
  ],
  ['a repeated create', (books) => books.create(emma, 'key'), 'UpdateItem, TransactWriteItems', ''],
];

test.for(refused)('%s waits for nothing', async ([, send, uses, error], { proxy, books }) => {
  const { version: first = '' } = await books.create(emma, 'key');
  const { version: second = '' } = await books.update(1, { year: 2 });
  await books.create(emma);
  await books.delete(2);
  proxy.takeRequests();
  pauses.count = 0;

  const outcome = await send(books, first, second).then(
    () => '',
    ({ name }: Error) => name,
  );

  expect(outcome).toBe(error && `${error}Error`);
  expect(proxy.takeRequests().join(', ')).toBe(uses);
  expect(pauses.count).toBe(0);
});

test('a list whose Queries fail says why, like every other request', async ({ proxy, opened }) => {
  proxy.disturb({ fault: serverError, operations: ['Query'] });

  await expect(listBooks(opened.proxied)).rejects.toThrow('DynamoDB failed: InternalServerError');
});

test.for<[item: string, item?: Record<string, AttributeValue>]>([
  ['none, as of an engine that returns none'],
  ['another book', marshall({ ...bookKey(2), ...emma, version: 'x' })],
  ['a number that the SDK cannot read', { ...marshall(bookKey(1)), [unknownField]: { N: '9007199254740993.5' } }],
])('a refused write whose response has an item that is of no use reads the book: %s', async ([, item], { table }) => {
  await openBooks(table).create(emma);
  const once = ['GetCommand', 'UpdateCommand'];
  const { books, requests } = openWithInterceptors(table, UpdateCommand, async () => {
    const refusal = { message: 'refused', $metadata: { httpStatusCode: 400 }, ...(item && { Item: item }) };
    throw new ConditionalCheckFailedException(refusal);
  });

  await books.update(1, { year: 1 });

  expect(requests).toEqual([...once, 'GetCommand', ...once]);
});
