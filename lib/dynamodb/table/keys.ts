import { createHash } from 'node:crypto';

/** The primary key of an item: partition key `shard`, sort key `id`. */
export interface ItemKey extends Record<string, number> {
  readonly shard: number;
  readonly id: number;
}

/** Ids per shard. A list takes two Queries for a full shard of small books, and one for an empty shard. */
const shardWidth = 10_000;

/** The counter item, in a partition without books. Its attribute `lastId` is the last id that was drawn. */
export const counterKey: ItemKey = { shard: -1, id: 0 };

export function shardOf(id: number): number {
  return Math.floor(id / shardWidth);
}

export function bookKey(id: number): ItemKey {
  return { shard: shardOf(id), id };
}

/** @returns the key of an idempotency record: a digest, so that records spread over partitions from -2 down */
export function recordKey(idempotencyKey: string): ItemKey {
  const digest = createHash('sha256').update(idempotencyKey).digest();
  return { shard: -2 - digest.readUIntBE(0, 6), id: digest.readUIntBE(6, 6) };
}
