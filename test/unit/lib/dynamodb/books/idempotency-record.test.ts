import { beforeEach, expect, test, vi } from 'vitest';
import { IdempotencyKeyUsedError } from '../../../../../lib/books/errors.ts';
import { IdempotencyRecord } from '../../../../../lib/dynamodb/books/idempotency-record.ts';
import { Table } from '../../../../../lib/dynamodb/table/table.ts';
import { aBook } from '../../../../support/a-book.ts';

const now = 1_800_000_000;
const fields = aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 });
const daySeconds = 86_400;
const lifetimeSeconds = 10 * daySeconds;

/** A table without items. */
const table = new Table({ send: async () => ({}) } as never, 'books');

beforeEach(() => {
  vi.spyOn(Date, 'now').mockReturnValue(now * 1_000 + 999);
});

const makeItem = () => new IdempotencyRecord('key', fields).makePut(7, 'version').Item;

test('an idempotency record outlives a repetition after 7 days that is held for a day, by the clocks that are furthest apart', () => {
  // Its instance was a day behind.
  vi.mocked(Date.now).mockReturnValue((now - daySeconds) * 1_000);
  const { expiresAt } = makeItem();

  const arrival = now + 7 * daySeconds + daySeconds;
  const clockOfDatabase = arrival + daySeconds;
  expect(expiresAt).toBe(clockOfDatabase);
});

test('an idempotency record is found until it expires', async () => {
  const item = makeItem();
  const record = { bookId: 7, version: 'version', expiresAt: now + lifetimeSeconds };
  const findAt = (seconds: number) => {
    vi.mocked(Date.now).mockReturnValue(seconds * 1_000);
    return new IdempotencyRecord('key', fields).find(table, item);
  };

  expect(await findAt(now)).toMatchObject(record);
  expect(await findAt(now + lifetimeSeconds - 0.001)).toMatchObject(record);
  expect(await findAt(now + lifetimeSeconds)).toBeUndefined();
  expect(await new IdempotencyRecord('key', fields).find(table)).toBeUndefined();
});

test('an idempotency record is for the same fields, of which defaults do not count', async () => {
  const find = (other: Partial<typeof fields>) =>
    new IdempotencyRecord('key', { ...fields, ...other }).find(table, makeItem());
  const fingerprintOf = (given: object) =>
    new IdempotencyRecord('key', given as never).makePut(1, 't').Item.fingerprint;

  await expect(find({ year: 0 })).rejects.toThrow(IdempotencyKeyUsedError);
  await expect(find({})).resolves.toBeDefined();
  // As it was before there were other fields: SHA-256 of ["key",["title","Emma"]] in base64url.
  expect(fingerprintOf(aBook({ title: 'Emma' }))).toBe('QCsZI8zO8u8TVsWpgHFj7IZYBDJGbqMCeS2eL86-SoY');
});

test.each([
  ['fingerprint', 1, 'no fingerprint'],
  ['bookId', 'x', 'no book'],
  ['version', 1, 'no version'],
  ['expiresAt', 'x', 'no expiry'],
])('an idempotency record with a damaged %s is an error that says so', async (name, value, problem) => {
  const finding = new IdempotencyRecord('key', fields).find(table, { ...makeItem(), [name]: value });

  await expect(finding).rejects.toThrow(`a stored item is damaged: an idempotency record has ${problem}`);
});
