import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bookKey, counterKey, shardOf } from '../../../../lib/dynamodb/keys.ts';

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
