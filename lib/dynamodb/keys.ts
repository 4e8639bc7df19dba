import { createHash } from 'node:crypto';

/** The primary key of an item: partition key `shard`, sort key `id`, both numbers. */
export interface ItemKey extends Record<string, number> {
  readonly shard: number;
  readonly id: number;
}

/**
 * Ids per shard. Books of about 100 bytes fill one 1 MB page of a Query with 10,000, so that a list needs about one
 * request per shard, and shards are small enough to be read a few at a time in little memory.
 */
const shardWidth = 10_000;

/** The counter item, in a partition that no book is in. Its attribute `lastId` holds the last id that was drawn. */
export const counterKey: ItemKey = { shard: -1, id: 0 };

/** The shard of a claim is at most this. */
const firstClaimShard = -2;

/** Two numbers of this size tell keys apart, and each is a safe integer. */
const claimKeyPartBytes = 6;

/**
 * @param id - the id of a book
 * @returns the shard (partition key) that holds the book
 */
export function shardOf(id: number): number {
  return Math.floor(id / shardWidth);
}

/**
 * @param id - the id of a book
 * @returns the key of the book's item
 */
export function bookKey(id: number): ItemKey {
  return { shard: shardOf(id), id };
}

/**
 * @param idempotencyKey - what a client sent
 * @returns the key of its claim: a digest, so that claims spread over partitions, all of them below those of books
 */
export function claimKey(idempotencyKey: string): ItemKey {
  const digest = createHash('sha256').update(idempotencyKey).digest();
  return {
    shard: firstClaimShard - digest.readUIntBE(0, claimKeyPartBytes),
    id: digest.readUIntBE(claimKeyPartBytes, claimKeyPartBytes),
  };
}
