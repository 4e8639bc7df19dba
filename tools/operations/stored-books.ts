import { hash } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDB,
  type PutItemCommandInput,
  paginateQuery,
} from '@aws-sdk/client-dynamodb';
import { inParallel } from '../../conformance/in-parallel.ts';
import { bookFields } from '../../lib/books/book.ts';
import { shardOf } from '../../lib/dynamodb/table/keys.ts';
import { createWriteToken } from '../../lib/dynamodb/table/write-token.ts';
import { StageError } from '../../serverless/deploy/target.ts';
import { maxGap, raiseCounter, readCounter } from './stored-counter.ts';

const fieldNames = Object.keys(bookFields);

/** Requests in flight while books are brought back: enough to hide the latency, and far below the limit of a partition. */
const booksAtOnce = 16;

type Item = Readonly<Record<string, AttributeValue>>;

/** The names of the table that a stage uses, and of the restored one. */
export interface Tables {
  readonly live: string;
  readonly restored: string;
}

/** The ids of books, by what has happened to them since the moment of the restored table. */
export interface BookIds {
  readonly changed: readonly number[];
  readonly created: readonly number[];
  readonly deleted: readonly number[];
}

/**
 * Compares the books of two tables, a shard at a time.
 *
 * @param shards - ascending
 * @returns for each shard the number of equal books, and the ids of the others
 */
export async function* compareBooks(
  client: DynamoDB,
  { live, restored }: Tables,
  shards: readonly number[],
): AsyncGenerator<BookIds & { readonly same: number }> {
  for (const shard of shards) {
    const [now, then] = await Promise.all([digestShard(client, live, shard), digestShard(client, restored, shard)]);
    const [ids, before] = [[...now.keys()], [...then.keys()]];
    const kept = ids.filter((id) => then.has(id));
    const changed = kept.filter((id) => now.get(id) !== then.get(id));
    yield {
      same: kept.length - changed.length,
      changed,
      created: ids.filter((id) => !then.has(id)),
      deleted: before.filter((id) => !now.has(id)),
    };
  }
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
    for (const item of Items) digests.set(Number(item.id?.N), digestBook(item));
  }
  return digests;
}

function digestBook(item: Item): string {
  return hash('sha256', JSON.stringify(fieldNames.map((name) => item[name])));
}

/**
 * Brings books of a restored table back into the live one, under their ids: deleted ones unless there is a book under
 * the id, and the fields of changed ones unless clients change them at the same time. Each gets a new version.
 *
 * @returns how many of each are as they were
 * @throws {StageError} when an id is so far above the others that every list would take minutes
 */
export async function bringBooksBack(
  client: DynamoDB,
  tables: Tables,
  { deleted, changed }: Pick<BookIds, 'changed' | 'deleted'>,
): Promise<{ readonly deleted: number; readonly changed: number }> {
  const lastId = (await readCounter(client, tables.live)) ?? (await readCounter(client, tables.restored)) ?? 0;
  const far = deleted.find((id) => id > lastId + maxGap);
  if (far !== undefined) {
    throw new StageError(`Nothing was brought back: book ${far} is over a million above the counter, ${lastId}.`);
  }
  const bringAll = async (ids: readonly number[], wasDeleted: boolean) => {
    const results = await inParallel(ids.length, booksAtOnce, (index) =>
      bringBack(client, tables, Number(ids[index]), wasDeleted),
    );
    return results.filter(Boolean).length;
  };
  return { deleted: await bringAll(deleted, true), changed: await bringAll(changed, false) };
}

/**
 * The write is as safe as those of the service (lib/dynamodb/books/book-change.ts): its token is above those of the live item,
 * so late attempts of earlier writes are refused. It replaces the item of a deleted book if that is older, and a book
 * if it is as it was read.
 *
 * @returns whether the book was put
 */
async function bringBack(client: DynamoDB, tables: Tables, id: number, wasDeleted: boolean): Promise<boolean> {
  const Key = { shard: { N: String(shardOf(id)) }, id: { N: String(id) } };
  const [restored, live] = await Promise.all(
    [tables.restored, tables.live].map(
      async (TableName) => (await client.getItem({ TableName, Key, ConsistentRead: true })).Item,
    ),
  );
  if (restored === undefined || restored.expiresAt !== undefined) return false;
  const writeToken = { S: createWriteToken([restored.writeToken?.S, live?.writeToken?.S]) };
  const Item = { ...restored, writeToken };
  if (wasDeleted) {
    await raiseCounter(client, tables.live, id); // first, because a list ends at the counter
    return put(client, {
      TableName: tables.live,
      Item,
      ConditionExpression:
        'attribute_not_exists(id) OR (attribute_exists(expiresAt) AND NOT writeToken >= :writeToken)',
      ExpressionAttributeValues: { ':writeToken': writeToken },
    });
  }
  if (live === undefined || digestBook(live) === digestBook(restored)) return false;
  const isAsRead = live.writeToken ? 'writeToken = :seen' : 'attribute_not_exists(writeToken)';
  return put(client, {
    TableName: tables.live,
    Item,
    ConditionExpression: `attribute_exists(id) AND attribute_not_exists(expiresAt) AND ${isAsRead}`,
    ...(live.writeToken && { ExpressionAttributeValues: { ':seen': live.writeToken } }),
  });
}

/** @returns whether the condition was true */
async function put(client: DynamoDB, input: PutItemCommandInput): Promise<boolean> {
  try {
    await client.putItem(input);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
