import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { claimKey } from '../../lib/dynamodb/keys.ts';
import { removeExpired } from '../../serverless/local/time-to-live.ts';
import { emma } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const tables = await useTables();

test('expired claims are removed from a local table, and nothing else is', async () => {
  const { client, tableName, repository } = await tables.open();
  await repository.create(emma);
  const now = Math.floor(Date.now() / 1000);
  const claims = Array.from({ length: 20 }, (_, index) => ({
    ...claimKey(`key ${index}`),
    expiresAt: index < 5 ? now + 60 : now - index,
  }));
  const puts = claims.map((Item) => ({ PutRequest: { Item } }));
  await client.send(new BatchWriteCommand({ RequestItems: { [tableName]: puts } }));

  await removeExpired({ endpoint: tables.endpoint, region: 'us-east-1', tableName });

  const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
  expect(Items.filter(({ expiresAt }) => expiresAt !== undefined)).toEqual(expect.arrayContaining(claims.slice(0, 5)));
  // The counter, the book and the claims.
  expect(Items).toHaveLength(7);
});
