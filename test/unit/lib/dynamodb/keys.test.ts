import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bookKey, claimKey, counterKey, shardOf } from '../../../../lib/dynamodb/keys.ts';

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('bookKey', () => {
  test('shard by shard, books come in the order of their ids', () => {
    fc.assert(
      fc.property(id, id, (one, other) => {
        const [smaller, larger] = one < other ? [one, other] : [other, one];

        expect(bookKey(smaller).shard).toBeLessThanOrEqual(bookKey(larger).shard);
      }),
    );
  });

  test('no book has the key of the counter', () => {
    fc.assert(
      fc.property(id, (bookId) => {
        expect(bookKey(bookId).shard).not.toBe(counterKey.shard);
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
});

describe('claimKey', () => {
  const idempotencyKey = fc.string({ minLength: 1, maxLength: 255 });

  test('no claim has the key, or the partition, of a book or of the counter', () => {
    fc.assert(
      fc.property(idempotencyKey, (key) => {
        expect(claimKey(key).shard).toBeLessThan(counterKey.shard);
      }),
    );
  });

  test('both numbers of a key are safe integers', () => {
    fc.assert(
      fc.property(idempotencyKey, (key) => {
        expect(Object.values(claimKey(key)).every(Number.isSafeInteger)).toBe(true);
      }),
    );
  });

  test('the claims of 10,000 keys are in 10,000 partitions, and no two have the same key', () => {
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
});
