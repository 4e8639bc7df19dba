import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { TableLocation } from '../../lib/dynamodb/client.ts';
import { createDynamoDBClient } from '../../lib/dynamodb/client.ts';

const firstAfterMs = 60_000; // after what people start the service for
const intervalMs = 24 * 60 * 60 * 1000;

const pageItems = 1_000; // some milliseconds of the engine, between which requests have their turn

/** Removes expired items now and then while the process runs, as DynamoDB does; dynalite has no time to live. */
export function startTimeToLive(table: TableLocation): void {
  // The next time removes what a failure leaves; the engine reports its own failures.
  const remove = () => void removeExpired(table).catch(() => {});
  setTimeout(remove, firstAfterMs).unref();
  setInterval(remove, intervalMs).unref();
}

/** Removes the items of a table whose `expiresAt` has passed: claims of idempotency keys, and what is left of deleted books. */
export async function removeExpired(location: TableLocation): Promise<void> {
  const client = DynamoDBDocumentClient.from(createDynamoDBClient(location));
  const isExpired = 'expiresAt < :now';
  const values = { ExpressionAttributeValues: { ':now': Math.floor(Date.now() / 1000) } };
  const table = { TableName: location.tableName, ...values };
  try {
    const pages = paginateScan({ client, pageSize: pageItems }, { ...table, FilterExpression: isExpired });
    for await (const { Items = [] } of pages) {
      for (const { shard, id } of Items) {
        // A new create with the key may have renewed it.
        const deletion = new DeleteCommand({ ...table, Key: { shard, id }, ConditionExpression: isExpired });
        await client.send(deletion).catch((error) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
      }
    }
  } finally {
    client.destroy();
  }
}
