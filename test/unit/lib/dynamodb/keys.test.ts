import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookKey, claimKey, counterKey, shardOf } from '../../../../lib/dynamodb/keys.ts';

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const idempotencyKey = fc.string({ minLength: 1, maxLength: 255 });

test('shard by shard, books come in the order of their ids, none with the counter or a claim', () => {
  fc.assert(
    fc.property(id, id, (one, other) => {
      const [smaller, larger] = one < other ? [one, other] : [other, one];

      expect(bookKey(smaller).shard).toBeLessThanOrEqual(bookKey(larger).shard);
      expect(bookKey(smaller).shard).toBeGreaterThan(counterKey.shard);
    }),
  );
});

// The layout of stored data: another width would lose every book that is there already.
test.each([
  [1, 0],
  [9_999, 0],
  [10_000, 1],
  [19_999, 1],
  [20_000, 2],
])('book %i is in shard %i', (bookId, shard) => {
  expect(shardOf(bookId)).toBe(shard);
  expect(bookKey(bookId)).toEqual({ shard, id: bookId });
});

test('a claim is in no partition of a book or the counter, and its key is of safe integers', () => {
  fc.assert(
    fc.property(idempotencyKey, (key) => {
      expect(claimKey(key).shard).toBeLessThan(counterKey.shard);
      expect(Object.values(claimKey(key)).every(Number.isSafeInteger)).toBe(true);
    }),
  );
});

test('the claims of 10,000 keys are in 10,000 partitions, and no two have the same id', () => {
  const keys = Array.from({ length: 10_000 }, (_, index) => claimKey(`row-${index}`));

  expect(new Set(keys.map(({ shard }) => shard)).size).toBe(10_000);
  expect(new Set(keys.map(({ id }) => id)).size).toBe(10_000);
});

// The layout of stored data: another one would store the book of each key again.
test.each([
  ['a', { shard: -222_752_054_364_701, id: 208_679_488_074_163 }],
  ['A', { shard: -94_123_852_857_958, id: 234_717_231_778_161 }],
])('the claim of %j is where it was', (key, expected) => {
  expect(claimKey(key)).toEqual(expected);
});
