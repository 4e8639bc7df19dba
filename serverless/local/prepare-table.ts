import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoDBClient } from '../../lib/dynamodb/client.ts';
import { TableNotFoundError } from '../../lib/dynamodb/errors.ts';
import { Table } from '../../lib/dynamodb/table.ts';
import { regionOf, type TableLocation } from '../../lib/dynamodb/table-url.ts';
import { createTable } from './create-table.ts';

/**
 * Makes sure that the book table is there: verifies it, and creates it when it is missing, though never in AWS, where
 * a mistyped name must not become a table. An engine of one's own takes any credentials, so that some are made up
 * where the environment has none.
 *
 * @param location - where the table is to be
 * @throws what {@link Table.verify} throws
 */
export async function prepareTable(location: TableLocation): Promise<void> {
  const ownEngine = regionOf(location.endpoint) === undefined;
  if (ownEngine) {
    process.env.AWS_ACCESS_KEY_ID ??= 'local';
    process.env.AWS_SECRET_ACCESS_KEY ??= 'local';
  }
  const client = createDynamoDBClient(location);
  const documentClient = DynamoDBDocumentClient.from(client);
  try {
    await new Table(documentClient, location.tableName).verify();
  } catch (error) {
    if (!(error instanceof TableNotFoundError) || !ownEngine) throw error;
    await createTable(client, location.tableName);
    await new Table(documentClient, location.tableName).verify();
  } finally {
    client.destroy();
  }
}
