import { type AttributeValue, type DynamoDB, paginateQuery } from '@aws-sdk/client-dynamodb';
import { counterKey, shardOf } from '../../lib/dynamodb/keys.ts';

/** What a book is in DynamoDB, without its tokens. */
type StoredBook = Readonly<Record<'id' | 'title' | 'author' | 'year', AttributeValue | undefined>>;

/** The ids of the books in which two tables differ. */
export interface Comparison {
  readonly same: number;
  readonly changed: readonly number[];
  readonly onlyInFirst: readonly number[];
  readonly onlyInSecond: readonly number[];
}

const key = Object.fromEntries(
  Object.entries(counterKey).map(([name, value]) => [name, { N: String(value) }]),
);

/** @returns the last id that was drawn; 0 when the table has no counter */
export async function readCounter(client: DynamoDB, TableName: string): Promise<number> {
  const { Item } = await client.getItem({ TableName, Key: key, ConsistentRead: true });
  return Number(Item?.lastId?.N ?? 0);
}

/** Raises the counter of a table, unless it is at `lastId` or above. */
export async function raiseCounter(client: DynamoDB, TableName: string, lastId: number): Promise<void> {
  if ((await readCounter(client, TableName)) >= lastId) return;
  await client.updateItem({
    TableName,
    Key: key,
    UpdateExpression: 'SET lastId = :lastId',
    ConditionExpression: 'attribute_not_exists(lastId) OR lastId < :lastId',
    ExpressionAttributeValues: { ':lastId': { N: String(lastId) } },
  });
}

/** Reads all books of two tables with ids up to `lastId`. */
export async function compareBooks(
  client: DynamoDB,
  first: string,
  second: string,
  lastId: number,
): Promise<Comparison> {
  const result = {
    same: 0,
    changed: [] as number[],
    onlyInFirst: [] as number[],
    onlyInSecond: [] as number[],
  };
  const [left, right] = [first, second].map((table) => readBooks(client, table, lastId)) as [Books, Books];
  let [one, other] = await Promise.all([left.next(), right.next()]);
  while (!(one.done && other.done)) {
    const [id, otherId] = [idOf(one), idOf(other)];
    if (id < otherId) result.onlyInFirst.push(id);
    else if (otherId < id) result.onlyInSecond.push(otherId);
    else if (JSON.stringify(one.value) === JSON.stringify(other.value)) result.same += 1;
    else result.changed.push(id);
    [one, other] = await Promise.all([
      id <= otherId ? left.next() : one,
      otherId <= id ? right.next() : other,
    ]);
  }
  return result;
}

type Books = AsyncGenerator<StoredBook, undefined>;

function idOf({ value }: IteratorResult<StoredBook, undefined>): number {
  return Number(value?.id?.N ?? Infinity);
}

/** Reads books in ascending order of their ids. */
async function* readBooks(client: DynamoDB, TableName: string, lastId: number): Books {
  for (let shard = 0; shard <= shardOf(lastId); shard += 1) {
    const pages = paginateQuery(
      { client },
      {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: '#shard = :shard',
        FilterExpression: 'attribute_not_exists(expiresAt)', // deleted books
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { N: String(shard) } },
      },
    );
    for await (const { Items = [] } of pages) {
      for (const { id, title, author, year } of Items) yield { id, title, author, year };
    }
  }
}
