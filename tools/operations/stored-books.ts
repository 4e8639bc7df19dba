import { hash } from 'node:crypto';
import { ConditionalCheckFailedException, type DynamoDB, paginateQuery } from '@aws-sdk/client-dynamodb';
import { inParallel } from '../../conformance/in-parallel.ts';
import { bookFields } from '../../lib/books/book.ts';
import { shardOf } from '../../lib/dynamodb/keys.ts';
import { createWriteToken } from '../../lib/dynamodb/write-token.ts';
import { raiseCounter } from './stored-counter.ts';

const fieldNames = Object.keys(bookFields);

/** Requests in flight while books are brought back: enough to hide the latency, and far below the limit of a partition. */
const booksAtOnce = 16;

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

/**
 * Puts books of a restored table into the live one under their ids, unless it has a book under the id.
 *
 * @param tables - the names of the restored and the live table
 * @param ids - ascending
 * @returns the number of books that are back
 */
export async function bringBooksBack(
  client: DynamoDB,
  tables: { readonly from: string; readonly to: string },
  ids: readonly number[],
): Promise<number> {
  // First, because a list ends at the counter.
  await raiseCounter(client, tables.to, ids.at(-1) ?? 0);
  const results = await inParallel(ids.length, booksAtOnce, (index) => bringBack(client, tables, Number(ids[index])));
  return results.filter(Boolean).length;
}

/**
 * The write is as safe as those of the service (lib/dynamodb/book-change.ts): its token is above those of the book that
 * was deleted, so late attempts of earlier writes are refused. It replaces the item of a deleted book only, and of an
 * older one.
 *
 * @returns whether the book was put
 */
async function bringBack(client: DynamoDB, { from, to }: { from: string; to: string }, id: number): Promise<boolean> {
  const Key = { shard: { N: String(shardOf(id)) }, id: { N: String(id) } };
  const [restored, live] = await Promise.all(
    [from, to].map(async (TableName) => (await client.getItem({ TableName, Key, ConsistentRead: true })).Item),
  );
  if (restored === undefined || restored.expiresAt !== undefined) return false;
  const writeToken = { S: createWriteToken([restored.writeToken?.S, live?.writeToken?.S]) };
  try {
    await client.putItem({
      TableName: to,
      Item: { ...restored, writeToken },
      ConditionExpression:
        'attribute_not_exists(id) OR (attribute_exists(expiresAt) AND NOT writeToken >= :writeToken)',
      ExpressionAttributeValues: { ':writeToken': writeToken },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
