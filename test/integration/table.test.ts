import { CreateTableCommand, type ScalarAttributeType } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { openTable } from '../../lib/dynamodb/table/table.ts';
import { startEngine } from '../fakes/engine.ts';
import { connect } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';

const tables = await useTables();
const open = (tableName: string, endpoint = tables.endpoint) => openTable({ endpoint, region: 'us-east-1', tableName });

test.each<[string, hash: [string, ScalarAttributeType], range?: [string, ScalarAttributeType]]>([
  ['without a sort key', ['shard', 'N']],
  ['whose partition key has another name', ['pk', 'N'], ['id', 'N']],
  ['whose sort key has another name', ['shard', 'N'], ['sk', 'N']],
  ['whose partition key is a text', ['shard', 'S'], ['id', 'N']],
  ['whose sort key is a text', ['shard', 'N'], ['id', 'S']],
])('a table %s is not a book table', async (name, hash, range) => {
  const TableName = name.replaceAll(/\W/g, '-');
  const keys = range ? [hash, range] : [hash];
  await connect(tables.endpoint).send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
      KeySchema: keys.map(([AttributeName], index) => ({ AttributeName, KeyType: index ? 'RANGE' : 'HASH' })),
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );

  await expect
    .poll(() => open(TableName).catch((error: Error) => error))
    .toMatchObject({
      name: 'KeySchemaError',
      message:
        `the table "${TableName}" is not a book table: ` +
        'its primary key has to be the numbers "shard" (partition key) and "id" (sort key)',
    });
});

test('an endpoint at which nobody listens is an unavailable storage and not a missing table', async () => {
  const stopped = await startEngine();
  await stopped.stop();

  await expect(open('books', stopped.endpoint)).rejects.toMatchObject({
    name: 'StorageUnavailableError',
    message: expect.stringMatching(/^DynamoDB failed: .*ECONNREFUSED/),
  });
});
