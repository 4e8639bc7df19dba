import { hash } from 'node:crypto';
import { type DynamoDB, paginateQuery } from '@aws-sdk/client-dynamodb';
import { bookFields } from '../../lib/books/book.ts';
import { counterKey, shardOf } from '../../lib/dynamodb/keys.ts';

const fieldNames = Object.keys(bookFields);
const Key = Object.fromEntries(Object.entries(counterKey).map(([name, value]) => [name, { N: String(value) }]));

/** @returns the last id that was drawn; 0 when the table has no counter */
export async function readCounter(client: DynamoDB, TableName: string): Promise<number> {
  const { Item } = await client.getItem({ TableName, Key, ConsistentRead: true });
  return Number(Item?.lastId?.N ?? 0);
}

/** Raises the counter of a table, unless it is at `lastId` or above. */
export async function raiseCounter(client: DynamoDB, TableName: string, lastId: number): Promise<void> {
  if ((await readCounter(client, TableName)) >= lastId) return;
  await client.updateItem({
    TableName,
    Key,
    UpdateExpression: 'SET lastId = :lastId',
    ConditionExpression: 'attribute_not_exists(lastId) OR lastId < :lastId',
    ExpressionAttributeValues: { ':lastId': { N: String(lastId) } },
  });
}

/**
 * Reads all books of two tables with ids up to `lastId`, a shard at a time.
 *
 * @returns the number of equal books, and the ids of the others
 */
export async function compareBooks(client: DynamoDB, first: string, second: string, lastId: number) {
  let same = 0;
  const [changed, onlyInFirst, onlyInSecond]: [number[], number[], number[]] = [[], [], []];
  for (let shard = 0; shard <= shardOf(lastId); shard += 1) {
    const [books, others] = await Promise.all([digestShard(client, first, shard), digestShard(client, second, shard)]);
    for (const [id, digest] of books) {
      if (others.get(id) === digest) same += 1;
      else if (others.has(id)) changed.push(id);
      else onlyInFirst.push(id);
    }
    onlyInSecond.push(...[...others.keys()].filter((id) => !books.has(id)));
  }
  return { same, changed, onlyInFirst, onlyInSecond };
}

/** @returns a digest of the fields of each book, by ascending id */
async function digestShard(client: DynamoDB, TableName: string, shard: number) {
  const digests = new Map<number, string>();
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
    for (const item of Items) {
      const fields = fieldNames.map((name) => item[name]);
      digests.set(Number(item.id?.N), hash('sha256', JSON.stringify(fields)));
    }
  }
  return digests;
}
