import { readFile } from 'node:fs/promises';
import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { parse } from 'yaml';
import { createDynamoDBClient, type TableLocation } from '../../../lib/dynamodb/connection/client.ts';
import { TableNotFoundError } from '../../../lib/dynamodb/connection/errors.ts';
import { regionOf } from '../../../lib/dynamodb/connection/table-url.ts';
import { Table } from '../../../lib/dynamodb/table/table.ts';

const maxWaitSeconds = 30; // an emulator makes a table in a few seconds

/**
 * Verifies the book table, and creates it when it is missing. It creates none in AWS, where a mistyped name must not
 * become a table.
 *
 * @throws what {@link Table.verify} throws
 */
export async function prepareTable(location: TableLocation): Promise<void> {
  const isAws = regionOf(location.endpoint) !== undefined;
  if (!isAws) {
    // Other engines take any credentials, but the SDK needs some.
    process.env.AWS_ACCESS_KEY_ID ||= 'local';
    process.env.AWS_SECRET_ACCESS_KEY ||= 'local';
  }
  const client = createDynamoDBClient(location);
  const table = new Table(DynamoDBDocumentClient.from(client), location.tableName);
  try {
    await table.verify();
  } catch (error) {
    if (!(error instanceof TableNotFoundError) || isAws) throw error;
    await createTable(client, location.tableName);
    await table.verify();
  } finally {
    client.destroy();
  }
}

/** Creates the table as in serverless/resources/table.yml, unless another process does so at the same time. */
export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const template = await readFile(new URL('../../resources/table.yml', import.meta.url), 'utf8');
  const { Properties } = parse(template, { logLevel: 'silent' }).Resources.BookTable;
  const { AttributeDefinitions, KeySchema, BillingMode } = Properties;
  const input = { TableName: tableName, AttributeDefinitions, KeySchema, BillingMode };
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, maxWaitTime: maxWaitSeconds, minDelay: 1 }, { TableName: tableName });
}
