import { bookKey, counterKey, shardOf } from '../../lib/dynamodb/keys.ts';
import type { Access } from './partition-load.ts';

/** The requests to DynamoDB of some seconds, one array a second, at a given rate of requests to the service. */
export type Workload = (rate: number) => Iterable<Iterable<Access>>;

/** Enough for ids to leave a shard behind at every rate that matters. */
const simulatedSeconds = 5;

/** Warm instances of the create function that requests are spread over. */
const instances = 50;

const counterBytes = 30;

/**
 * POST /book. With a block size of 1 this is what the service does: each create draws one id. With more, an instance
 * draws so many at once and gives them out by itself.
 *
 * @param bookBytes - size of an item
 * @param blockSize - ids that an instance draws at once
 */
export function createBooks(bookBytes: number, blockSize = 1): Workload {
  return function* (rate) {
    let lastId = 0;
    const blocks = Array.from({ length: instances }, () => ({ next: 1, end: 0 }));
    for (let second = 0; second < simulatedSeconds; second += 1) {
      const accesses: Access[] = [];
      for (let request = 0; request < rate; request += 1) {
        const block = blocks[request % instances] as (typeof blocks)[number];
        if (block.next > block.end) {
          accesses.push({ key: counterKey, bytes: counterBytes, kind: 'write' });
          block.next = lastId + 1;
          lastId += blockSize;
          block.end = lastId;
        }
        accesses.push({ key: bookKey(block.next), bytes: bookBytes, kind: 'write' });
        block.next += 1;
      }
      yield accesses;
    }
  };
}

/**
 * GET, PUT or DELETE of single books, spread evenly.
 *
 * @param kind - what it does to the item
 * @param bookBytes - size of an item
 * @param books - how many books are asked for: those with the ids from 1 up
 */
export function touchBooks(kind: Access['kind'], bookBytes: number, books: number): Workload {
  return function* (rate) {
    yield Array.from({ length: rate }, (_, request) => {
      // An odd stride with no factor in common with a catalog's size visits all of it evenly.
      return { key: bookKey(((request * 7_919) % books) + 1), bytes: bookBytes, kind };
    });
  };
}

/**
 * GET /books?limit=N, at places spread evenly.
 *
 * @param limit - N; one book more is read, to know whether there is one
 * @param books - how many books there are
 */
export function listPages(limit: number, bookBytes: number, books: number): Workload {
  return function* (rate) {
    yield Array.from({ length: rate }, (_, request) => {
      const after = (request * 7_919) % books;
      return { key: bookKey(after + 1), bytes: (limit + 1) * bookBytes, kind: 'read' as const };
    });
  };
}

/**
 * GET /books without a limit: each list asks the counter and then every shard.
 *
 * @param bookBytes - size of an item
 * @param books - how many books there are
 */
export function listAllBooks(bookBytes: number, books: number): Workload {
  const shards = Array.from({ length: shardOf(books) + 1 }, (_, shard) => shard);
  const sizes = shards.map((shard) => countIds(shard, books) * bookBytes);
  return function* (rate) {
    yield Array.from({ length: rate }).flatMap((): Access[] => [
      { key: counterKey, bytes: counterBytes, kind: 'read' },
      ...sizes.map((bytes, shard) => ({ key: { shard, id: 0 }, bytes, kind: 'read' as const })),
    ]);
  };
}

/** Instances that start: each reads the counter item once (lib/dynamodb/table.ts). */
export function startInstances(): Workload {
  return function* (rate) {
    yield Array.from({ length: rate }, () => ({
      key: counterKey,
      bytes: counterBytes,
      kind: 'read' as const,
    }));
  };
}

/** How many ids from 1 to `books` a shard holds. */
function countIds(shard: number, books: number): number {
  return findFirstId(shard + 1, books) - findFirstId(shard, books);
}

/** The first id of a shard or a later one, by bisection; `books + 1` when there is none. */
function findFirstId(shard: number, books: number): number {
  let low = 1;
  let high = books + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (shardOf(middle) < shard) low = middle + 1;
    else high = middle;
  }
  return low;
}
