import { CreateTableCommand, DeleteTableCommand, type ScalarAttributeType } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageUnavailableError } from '../../lib/books/errors.ts';
import { openBookRepository } from '../../lib/dynamodb/open-book-repository.ts';
import { KeySchemaError, TableNotFoundError, verifyTable } from '../../lib/dynamodb/table.ts';
import { type Engine, provideEngine, startEngine } from '../simulators/engine.ts';
import { connect, createBookTable, emma, listBooks } from '../support/book-table.ts';

let engine: Engine;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

/** An endpoint at which nobody listens: the port of an engine that has just stopped. */
async function findDeadEndpoint(): Promise<string> {
  const stopped = await startEngine();
  await stopped.stop();
  return stopped.endpoint;
}

describe('verifyTable', () => {
  test('an empty book table is accepted, and stays empty', async () => {
    const { client, tableName, repository } = await createBookTable(engine.endpoint);

    await expect(verifyTable(client, tableName)).resolves.toBeUndefined();

    expect((await repository.create(emma)).id).toBe(1);
  });

  test('a book table in use is accepted', async () => {
    const { client, tableName, repository } = await createBookTable(engine.endpoint);
    await repository.create(emma);

    await expect(verifyTable(client, tableName)).resolves.toBeUndefined();
  });

  test('a missing table is named, with the SDK’s error as the cause', async () => {
    const error = await verifyTable(connect(engine.endpoint), 'no-such-table').catch(
      (reason: unknown) => reason,
    );

    expect(error).toBeInstanceOf(TableNotFoundError);
    expect(error).toMatchObject({
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
    const client = connect(engine.endpoint);
    const TableName = name.replaceAll(/\W/g, '-');
    const keys = range ? [hash, range] : [hash];
    await client.send(
      new CreateTableCommand({
        TableName,
        AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({
          AttributeName,
          AttributeType,
        })),
        KeySchema: keys.map(([AttributeName], index) => ({
          AttributeName,
          KeyType: index ? 'RANGE' : 'HASH',
        })),
        BillingMode: 'PAY_PER_REQUEST',
      }),
    );

    await expect
      .poll(() => verifyTable(client, TableName).catch((error: Error) => error))
      .toBeInstanceOf(KeySchemaError);
    await expect(verifyTable(client, TableName)).rejects.toThrow(
      `the table "${TableName}" is not a book table`,
    );
  });

  test('an endpoint at which nobody listens is an unavailable storage and no missing table', async () => {
    const client = connect(await findDeadEndpoint());

    await expect(verifyTable(client, 'books')).rejects.toThrow(StorageUnavailableError);
    await expect(verifyTable(client, 'books')).rejects.toThrow(/^DynamoDB failed: .*ECONNREFUSED/);
  });
});

describe('openBookRepository', () => {
  test('a book table opens and serves', async () => {
    const { tableName } = await createBookTable(engine.endpoint);

    const books = await openBookRepository({ endpoint: engine.endpoint, region: 'us-east-1', tableName });

    expect(await books.create(emma)).toMatchObject({ book: { id: 1, ...emma }, replayed: false });
  });

  test('a missing table does not open', async () => {
    const location = { endpoint: engine.endpoint, region: 'us-east-1', tableName: 'no-such-table' };

    await expect(openBookRepository(location)).rejects.toThrow(TableNotFoundError);
  });

  test('an endpoint at which nobody listens does not open', async () => {
    const location = { endpoint: await findDeadEndpoint(), region: 'us-east-1', tableName: 'books' };

    await expect(openBookRepository(location)).rejects.toThrow(StorageUnavailableError);
  });
});

describe('a table that is deleted while it is served', () => {
  test('every operation says that the storage is unavailable, and never that a book is not found', async () => {
    const { client, tableName, repository } = await createBookTable(engine.endpoint);
    const { id } = await repository.create(emma);
    await client.send(new DeleteTableCommand({ TableName: tableName }));

    const operations = [
      () => repository.create(emma),
      () => repository.get(id),
      () => repository.update(id, { title: 'x' }),
      () => repository.update(id, {}),
      () => repository.delete(id),
      () => listBooks({ client, tableName }),
    ];

    for (const operation of operations) await expect(operation()).rejects.toThrow(StorageUnavailableError);
  });
});
