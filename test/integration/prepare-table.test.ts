import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { TableNotFoundError } from '../../lib/dynamodb/connection/errors.ts';
import { openTable } from '../../lib/dynamodb/table/table.ts';
import { prepareTable } from '../../serverless/local/engine/prepare-table.ts';
import { useTables } from '../support/fixtures.ts';

const tables = await useTables();

/** Where every client connects, so that no test asks AWS. */
const { endpoint } = vi.hoisted(() => ({ endpoint: { value: '' } }));

vi.mock(import('../../lib/dynamodb/connection/client.ts'), async (importOriginal) => {
  const { createDynamoDBClient, ...others } = await importOriginal();
  const connect: typeof createDynamoDBClient = (location) =>
    createDynamoDBClient({ ...location, endpoint: endpoint.value });
  return { ...others, createDynamoDBClient: connect };
});

beforeEach(() => {
  endpoint.value = tables.endpoint;
});

const local = () => ({ endpoint: 'http://127.0.0.1:1', region: 'us-east-1', tableName: `books-${randomUUID()}` });
const ofAws = () => ({ ...local(), endpoint: 'https://dynamodb.eu-west-1.amazonaws.com' });

test('a missing table is created, except in AWS, where its name may be mistyped', async () => {
  const [inAws, elsewhere] = [ofAws(), local()];

  await expect(prepareTable(inAws)).rejects.toThrow(TableNotFoundError);
  await prepareTable(elsewhere);

  await expect(openTable(inAws)).rejects.toThrow('does not exist');
  await openTable(elsewhere);
});

test('for other engines than AWS, credentials are made up when there are none', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', '');
  await expect(prepareTable(ofAws())).rejects.toThrow('CredentialsProviderError');
  expect(process.env.AWS_ACCESS_KEY_ID).toBeUndefined();

  await prepareTable(local());

  expect([process.env.AWS_ACCESS_KEY_ID, process.env.AWS_SECRET_ACCESS_KEY]).toEqual(['local', 'local']);
});

test('credentials that are there stay', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'own');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');

  const prepared = prepareTable(local());

  // The embedded engine takes those of this process alone, and DynamoDB Local takes any.
  if (process.env.TEST_DYNAMODB_ENDPOINT === undefined) {
    await expect(prepared).rejects.toThrow('UnrecognizedClientException');
  } else {
    await prepared;
  }
  expect([process.env.AWS_ACCESS_KEY_ID, process.env.AWS_SECRET_ACCESS_KEY]).toEqual(['own', 'secret']);
});
