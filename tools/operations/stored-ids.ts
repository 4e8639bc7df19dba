import { type DynamoDB, paginateScan } from '@aws-sdk/client-dynamodb';
import { shardOf } from '../../lib/dynamodb/table/keys.ts';

/**
 * What a shard holds. Its ids are those of books, of deleted books whose item is left, and of books that the claim of an
 * idempotency key names.
 */
interface StoredShard {
  readonly shard: number;
  readonly lowestId: number;
  readonly highestId: number;
  /** Books that are not deleted. */
  readonly books: number;
}

/** The ids in a table. */
export interface StoredIds {
  /** Books that are not deleted. */
  readonly books: number;
  readonly highestId: number | undefined;
  /** The shards that hold something, ascending. */
  readonly shards: readonly StoredShard[];
}

/** A wide range without ids: deletions have left it, or somebody has set the counter too high. */
export interface Gap {
  /** The highest id below it, 0 without one. */
  readonly below: number;
  /** The lowest id above it, or the counter. */
  readonly above: number;
  /** Books above it. */
  readonly books: number;
}

/**
 * Reads the keys of all items. Nothing less finds the ids: without a counter, nobody knows at which partition the books
 * end, and a counter that is too high would name millions of partitions.
 */
export async function findStoredIds(client: DynamoDB, TableName: string): Promise<StoredIds> {
  const shards = new Map<number, StoredShard>();
  const add = (id: number, books: number) => {
    const shard = shardOf(id);
    const { lowestId = id, highestId = id, books: others = 0 } = shards.get(shard) ?? {};
    const bounds = { lowestId: Math.min(lowestId, id), highestId: Math.max(highestId, id) };
    shards.set(shard, { shard, ...bounds, books: others + books });
  };
  const pages = paginateScan(
    { client },
    {
      TableName,
      ConsistentRead: true,
      ProjectionExpression: '#shard, #id, #bookId, #expiresAt',
      ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id', '#bookId': 'bookId', '#expiresAt': 'expiresAt' },
    },
  );
  for await (const { Items = [] } of pages) {
    for (const { shard, id, bookId, expiresAt } of Items) {
      const isBook = shardOf(Number(id?.N)) === Number(shard?.N);
      if (isBook) add(Number(id?.N), expiresAt === undefined ? 1 : 0);
      else if (bookId?.N !== undefined) add(Number(bookId.N), 0);
    }
  }
  const ascending = [...shards.values()].sort((one, other) => one.shard - other.shard);
  return { books: countBooks(ascending), highestId: ascending.at(-1)?.highestId, shards: ascending };
}

/**
 * Finds the widest range without ids between those of a table, or between the highest one and the counter.
 *
 * @param minWidth - narrower ones do not count
 */
export function findGap({ shards }: StoredIds, lastId: number, minWidth: number): Gap | undefined {
  const edges = shards.map(({ highestId }, index) => [highestId, shards[index + 1]?.lowestId ?? lastId] as const);
  const gaps = shards.length === 0 ? [[0, lastId] as const] : edges;
  const [below, above] = gaps.reduce((one, other) => (one[1] - one[0] < other[1] - other[0] ? other : one));
  if (above - below <= minWidth) return undefined;
  return { below, above, books: countBooks(shards.filter(({ lowestId }) => lowestId > below)) };
}

function countBooks(shards: readonly StoredShard[]): number {
  return shards.reduce((sum, { books }) => sum + books, 0);
}
