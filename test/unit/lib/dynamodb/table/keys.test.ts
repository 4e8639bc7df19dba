import { expect, test } from 'vitest';
import { bookKey, counterKey, recordKey } from '../../../../../lib/dynamodb/table/keys.ts';

test('each of 10,000 idempotency records has a safe id and partition of its own, without books or the counter', () => {
  const keys = Array.from({ length: 10_000 }, (_, index) => recordKey(`row-${index}`));
  const shards = keys.map(({ shard }) => shard);
  const ids = keys.map(({ id }) => id);

  expect([new Set(shards).size, new Set(ids).size]).toEqual([10_000, 10_000]);
  expect(Math.max(...shards)).toBeLessThan(counterKey.shard);
  expect([...shards, ...ids].every(Number.isSafeInteger)).toBe(true);
});

// Another layout would lose every book that is stored already, and store the book of each key again.
test.each([
  [counterKey, { shard: -1, id: 0 }],
  [bookKey(1), { shard: 0, id: 1 }],
  [bookKey(9_999), { shard: 0, id: 9_999 }],
  [bookKey(10_000), { shard: 1, id: 10_000 }],
  [bookKey(20_000), { shard: 2, id: 20_000 }],
  [recordKey('a'), { shard: -222_752_054_364_701, id: 208_679_488_074_163 }],
  [recordKey('A'), { shard: -94_123_852_857_958, id: 234_717_231_778_161 }],
])('a key is where it always was: %j', (key, expected) => {
  expect(key).toEqual(expected);
});
