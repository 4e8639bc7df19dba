import {
  type AttributeValue,
  type DynamoDB,
  paginateQuery,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';

import { bookKey } from '../../lib/dynamodb/table/keys.ts';
import { maxLatenessSeconds } from '../../lib/dynamodb/table/lateness.ts';
import { createWriteToken } from '../../lib/dynamodb/table/write-token.ts';
import { StageError } from '../../serverless/deploy/target.ts';
import type { StoredIds } from './stored-ids.ts';

type Item = Record<string, AttributeValue>;

/** Reads the books with ids above `after`, in ascending order. It asks only the shards that hold something. */
export async function* readBooksAbove(
  client: DynamoDB,
  TableName: string,
  { shards }: StoredIds,
  after: number,
): AsyncGenerator<Item> {
  for (const { shard } of shards.filter(({ highestId, books }) => highestId > after && books > 0)) {
    const pages = paginateQuery(
      { client },
      {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: '#shard = :shard AND #id > :after',
        FilterExpression: 'attribute_not_exists(expiresAt)', // deleted books
        ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
        ExpressionAttributeValues: { ':shard': { N: String(shard) }, ':after': { N: String(after) } },
      },
    );
    for await (const { Items = [] } of pages) yield* Items;
  }
}

/**
 * Gives a book another id, in one transaction. Under the old id, it leaves what a deletion leaves.
 *
 * @throws {StageError} when the book was changed after it was read, or the new id is taken
 */
export async function moveBook(client: DynamoDB, TableName: string, item: Item, newId: number): Promise<void> {
  const seen = item.writeToken;
  const writeToken = { S: createWriteToken([seen?.S]) };
  const expiresAt = { N: String(Math.floor(Date.now() / 1000) + maxLatenessSeconds) };
  const key = Object.entries(bookKey(newId)).map(([name, value]) => [name, { N: String(value) }]);
  const isAsRead = seen ? 'writeToken = :seen' : 'attribute_not_exists(writeToken)';
  const moved = { ...item, ...Object.fromEntries(key), writeToken };
  const deleted = { shard: item.shard, id: item.id, writeToken, expiresAt } as Item;
  try {
    await client.transactWriteItems({
      TransactItems: [
        { Put: { TableName, Item: moved, ConditionExpression: 'attribute_not_exists(id)' } },
        {
          Put: {
            TableName,
            Item: deleted,
            ConditionExpression: `attribute_exists(id) AND ${isAsRead}`,
            ...(seen && { ExpressionAttributeValues: { ':seen': seen } }),
          },
        },
      ],
    });
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    throw new StageError(`Book ${item.id?.N} has been changed meanwhile, and was not moved. Repeat the command.`);
  }
}
