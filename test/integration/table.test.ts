import { CreateTableCommand, DeleteTableCommand, type ScalarAttributeType } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { StorageUnavailableError } from '../../lib/books/errors.ts';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';
import { KeySchemaError, TableNotFoundError } from '../../lib/dynamodb/errors.ts';
import { openTable, Table } from '../../lib/dynamodb/table.ts';
import { startEngine } from '../simulators/engine.ts';
import { connect, emma, listBooks } from '../support/book-table.ts';
import { expectUnavailable, useTables } from '../support/fixtures.ts';

const tables = await useTables();

test('a book table is accepted, empty and in use, and opens', async () => {
  const { client, tableName, repository } = await tables.open();

  await new Table(client, tableName).verify();
  expect((await repository.create(emma)).id).toBe(1);
  await new Table(client, tableName).verify();

  const books = new BookRepository(
    await openTable({ endpoint: tables.endpoint, region: 'us-east-1', tableName }),
  );
  expect(await books.create(emma)).toMatchObject({ book: { id: 2, ...emma }, replayed: false });
});

test('a missing table is named, with the SDK’s error as the cause', async () => {
  const verifying = new Table(connect(tables.endpoint), 'no-such-table').verify();

  await expect(verifying).rejects.toThrow(TableNotFoundError);
  await expect(verifying).rejects.toMatchObject({
    message: 'the table "no-such-table" does not exist',
    cause: { name: 'ResourceNotFoundException' },
  });
});

test.each<[string, hash: [string, ScalarAttributeType], range?: [string, ScalarAttributeType]]>([
  ['without a sort key', ['shard', 'N']],
  ['whose partition key has another name', ['pk', 'N'], ['id', 'N']],
  ['whose sort key has another name', ['shard', 'N'], ['sk', 'N']],
  ['whose partition key is a text', ['shard', 'S'], ['id', 'N']],
  ['whose sort key is a text', ['shard', 'N'], ['id', 'S']],
  ['whose keys are exchanged, with another type', ['id', 'S'], ['shard', 'N']],
])('a table %s is no book table', async (name, hash, range) => {
  const client = connect(tables.endpoint);
  const TableName = name.replaceAll(/\W/g, '-');
  const keys = range ? [hash, range] : [hash];
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
      KeySchema: keys.map(([AttributeName], index) => ({ AttributeName, KeyType: index ? 'RANGE' : 'HASH' })),
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );

  await expect
    .poll(() => new Table(client, TableName).verify().catch((error: Error) => error))
    .toBeInstanceOf(KeySchemaError);
  await expect(new Table(client, TableName).verify()).rejects.toThrow(
    `the table "${TableName}" is not a book table`,
  );
});

test('an endpoint at which nobody listens is an unavailable storage and no missing table', async () => {
  const stopped = await startEngine();
  await stopped.stop();
  const verifying = new Table(connect(stopped.endpoint), 'books').verify();

  await expect(verifying).rejects.toThrow(StorageUnavailableError);
  await expect(verifying).rejects.toThrow(/^DynamoDB failed: .*ECONNREFUSED/);
});

test('of a table that is deleted while it is served, no book is called missing', async () => {
  const { client, tableName, repository } = await tables.open();
  const { id } = await repository.create(emma);
  await client.send(new DeleteTableCommand({ TableName: tableName }));

  await expectUnavailable([
    repository.create(emma),
    repository.get(id),
    repository.update(id, { title: 'x' }),
    repository.update(id, {}),
    repository.delete(id),
    listBooks({ client, tableName }),
  ]);
});
