import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

/** A local engine makes a table in an instant, an emulator in a few seconds. */
const maxWaitSeconds = 30;

/**
 * Creates the book table and waits until it is ACTIVE. A table that someone else created meanwhile is as good. For
 * local engines and emulators: in AWS the stack owns the table (serverless/resources/table.yml).
 *
 * @param client - a client for the engine
 * @param tableName - the table to create
 */
export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        AttributeDefinitions: [
          { AttributeName: 'shard', AttributeType: 'N' },
          { AttributeName: 'id', AttributeType: 'N' },
        ],
        KeySchema: [
          { AttributeName: 'shard', KeyType: 'HASH' },
          { AttributeName: 'id', KeyType: 'RANGE' },
        ],
        BillingMode: 'PAY_PER_REQUEST',
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, maxWaitTime: maxWaitSeconds, minDelay: 1 }, { TableName: tableName });
}
