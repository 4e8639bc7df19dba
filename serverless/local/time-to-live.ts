import { setTimeout as wait } from 'node:timers/promises';
import { DeleteCommand, DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { createDynamoDBClient } from '../../lib/dynamodb/client.ts';
import type { TableLocation } from '../../lib/dynamodb/table-url.ts';

const firstAfterMs = 60_000; // after what people start the service for
const intervalMs = 24 * 60 * 60 * 1000;

const pageItems = 1_000; // some milliseconds of the engine, between which requests have their turn
const pauseMs = 50;

/** Removes expired items now and then while the process runs, as DynamoDB does; dynalite has no time to live. */
export function startTimeToLive(table: TableLocation): void {
  // The next time removes what a failure leaves; the engine reports its own failures.
  const remove = () => void removeExpired(table).catch(() => {});
  setTimeout(remove, firstAfterMs).unref();
  setInterval(remove, intervalMs).unref();
}

/** Removes the items of a table whose `expiresAt` has passed: claims of idempotency keys, and what is left of deleted books. */
export async function removeExpired(location: TableLocation): Promise<void> {
  const TableName = location.tableName;
  const client = DynamoDBDocumentClient.from(createDynamoDBClient(location));
  const expired = { ':now': Math.floor(Date.now() / 1000) };
  const condition = { ExpressionAttributeValues: expired } as const;
  try {
    const pages = paginateScan(
      { client, pageSize: pageItems },
      { TableName, FilterExpression: 'expiresAt < :now', ...condition },
    );
    for await (const { Items = [] } of pages) {
      for (const { shard, id } of Items) {
        const Key = { shard, id };
        // A new create with the key may have renewed it.
        const ConditionExpression = 'expiresAt < :now';
        await client
          .send(new DeleteCommand({ TableName, Key, ConditionExpression, ...condition }))
          .catch(ignoreCondition);
      }
      await wait(pauseMs, undefined, { ref: false });
    }
  } finally {
    client.destroy();
  }
}

function ignoreCondition(error: Error): void {
  if (error.name !== 'ConditionalCheckFailedException') throw error;
}
