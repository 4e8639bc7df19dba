import { rm } from 'node:fs/promises';
import { HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, expect, test } from 'vitest';
import { Sha256 } from '../../lib/dynamodb/connection/signing.ts';
import { type AccessKey, createAccessKey } from '../../serverless/local/request-signature.ts';
import { startStorage } from '../../serverless/local/start-storage.ts';
import { readAccessKey } from '../simulators/engine.ts';
import { createDataFolder } from '../support/local-service.ts';

const dataFolder = createDataFolder();
afterAll(() => rm(dataFolder, { recursive: true }));

process.env.AWS_SESSION_TOKEN = 'of the developer';
const warnings: string[] = [];
const { url } = await startStorage({ dataFolder }, (problem) => warnings.push(problem));
const { origin, host } = new URL(url);

const TableName = 'books';
const Key = { shard: { N: '1' }, id: { N: '7' } };
const read = { TableName, Key };
const Item = {
  ...Key,
  title: { S: 'Emma' },
  pages: { N: '400' },
  tags: { NS: ['1', '2'] },
  parts: { L: [{ S: 'a' }, { M: {} }] },
};

interface EngineRequest {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Signs a request as the SDK does, by default with the access key of the process. */
async function sign(operation: string, input: unknown, accessKey: AccessKey = readAccessKey()) {
  const region = 'us-east-1';
  const signer = new SignatureV4({ credentials: accessKey, region, service: 'dynamodb', sha256: Sha256 });
  const body = JSON.stringify(input);
  const headers = {
    host,
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'content-type': 'application/x-amz-json-1.0',
  };
  return { ...(await signer.sign(new HttpRequest({ method: 'POST', headers, body }))), body };
}

async function send({ method = 'POST', headers, body }: EngineRequest) {
  const response = await fetch(origin, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  const { __type = '', message = '', ...output } = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, error: __type.split('#').at(-1), message, output };
}

const carryOut = async (operation: string, input: unknown) => send(await sign(operation, input));

await carryOut('PutItem', { TableName, Item });

const altered = async (change: (request: EngineRequest) => EngineRequest) => change(await sign('GetItem', read));
const withHeaders = (headers: Readonly<Record<string, string>>) =>
  altered((request) => ({ ...request, headers: { ...request.headers, ...headers } }));
const origins = { Origin: 'https://elsewhere.test' };

test.each<[string, () => Promise<EngineRequest> | EngineRequest]>([
  [
    'without a signature',
    () => ({ headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' }, body: JSON.stringify(read) }),
  ],
  ['signed with the key of somebody else', () => sign('GetItem', read, createAccessKey())],
  [
    'signed with the key that engines used to take',
    () => sign('GetItem', read, { accessKeyId: 'local', secretAccessKey: 'local' }),
  ],
  ['signed with another secret', () => sign('GetItem', read, { ...readAccessKey(), secretAccessKey: 'x' })],
  ['whose body is not that of its signature', () => altered((request) => ({ ...request, body: `${request.body} ` }))],
  ['for another operation than its signature', () => withHeaders({ 'x-amz-target': 'DynamoDB_20120810.DeleteItem' })],
  ['at another time than its signature', () => withHeaders({ 'x-amz-date': '20200101T000000Z' })],
  ['at no time', () => withHeaders({ 'x-amz-date': 'now' })],
  [
    'with the key, and no signature',
    () => withHeaders({ authorization: `AWS4-HMAC-SHA256 Credential=${readAccessKey().accessKeyId}/` }),
  ],
  ['of a page of another origin', () => ({ headers: origins, body: JSON.stringify(read) })],
  [
    'of a page of another origin that asks what it may send',
    () => ({
      method: 'OPTIONS',
      headers: {
        ...origins,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-amz-target,authorization',
      },
    }),
  ],
  ['of somebody who looks what listens there', () => ({ method: 'GET', headers: {} })],
])('the embedded engine refuses a request %s', async (_kind, create) => {
  const { status, headers, error, output } = await send(await create());

  expect([status, error, output]).toEqual([400, 'UnrecognizedClientException', {}]);
  expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  expect(await carryOut('GetItem', read)).toMatchObject({ status: 200, output: { Item } });
});

test('the functions have the credentials of the embedded engine, and not those of the developer', () => {
  expect(readAccessKey()).toEqual({
    accessKeyId: expect.stringMatching(/^[0-9a-f]{32}$/),
    secretAccessKey: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(process.env.AWS_SESSION_TOKEN).toBeUndefined();
});

const written = { TableName, Item: { ...Item, id: { N: '8' } } };
const values = { ':one': { N: '1' }, ':text': { S: 'x' } };

/** A request of each operation, with every kind of parameter that the service sends. */
const requests = Object.entries({
  BatchWriteItem: { RequestItems: { [TableName]: [{ PutRequest: { Item: written.Item } }] } },
  CreateTable: {
    TableName: 'others',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  },
  DeleteItem: { TableName, Key: { ...Key, id: { N: '9' } }, ReturnValues: 'ALL_OLD' },
  DescribeTable: { TableName },
  GetItem: {
    TableName,
    Key,
    ConsistentRead: true,
    ProjectionExpression: '#t',
    ExpressionAttributeNames: { '#t': 'title' },
  },
  ListTables: { Limit: 1, ExclusiveStartTableName: 'abc' },
  PutItem: {
    ...written,
    ConditionExpression: 'attribute_not_exists(title) OR title <> :text',
    ExpressionAttributeValues: { ':text': { S: 'x' } },
  },
  Query: {
    TableName,
    KeyConditionExpression: '#s = :one AND id > :one',
    ExpressionAttributeNames: { '#s': 'shard' },
    ExpressionAttributeValues: { ':one': { N: '1' } },
    FilterExpression: 'size(tags) > :one',
    ExclusiveStartKey: Key,
    Limit: 5,
  },
  Scan: { TableName, Limit: 1, ConsistentRead: true, ExclusiveStartKey: Key },
  TransactWriteItems: { TransactItems: [{ Put: { ...written, ConditionExpression: 'attribute_exists(id)' } }] },
  UpdateItem: {
    TableName,
    Key,
    UpdateExpression: 'SET title = :text ADD version :one',
    ExpressionAttributeValues: values,
  },
});

const oddValues = [undefined, null, -1.5, 'x', [], [null], {}, { x: null }, { N: 'x' }];

function* listPaths(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* listPaths(member, [...path, name]);
}

function replaceAt(value: object, [name, ...rest]: readonly string[], replacement: unknown): unknown {
  if (name === undefined) return replacement;
  const copy = structuredClone(value) as Record<string, never>;
  return Object.assign(copy, { [name]: replaceAt(copy[name] as unknown as object, rest, replacement) });
}

test.each(requests)('a malformed %s is a request that is not valid, and ends nothing', async (operation, valid) => {
  for (const path of listPaths(valid)) {
    for (const odd of oddValues) {
      const { status, error } = await carryOut(operation, replaceAt(valid, path, odd) ?? '');
      expect(status, `${operation} ${path.join('.')} = ${JSON.stringify(odd)}: ${error}`).toBeOneOf([200, 400]);
    }
  }

  expect((await carryOut('GetItem', read)).status).toBe(200);
  expect(warnings).toEqual([]);
});

test.each([
  ['an unknown operation', 'Nothing', {}, 'UnknownOperationException'],
  ['no JSON object', 'GetItem', 1, 'SerializationException'],
  ['null for the actions of a transaction', 'TransactWriteItems', { TransactItems: null }, 'ValidationException'],
  ['null for an attribute', 'PutItem', { TableName, Item: { ...Key, title: null } }, 'ValidationException'],
])('a request with %s gets the error of DynamoDB', async (_kind, operation, input, error) => {
  expect(await carryOut(operation, input)).toMatchObject({ status: 400, error });
});

// dynalite throws an error while it filters what it has read.
const filter = { FilterExpression: 'begins_with(nothing, nowhere)' };
// dynalite throws an error while it holds the lock of an item.
const condition = { ConditionExpression: 'title IN (nothing)' };

test.each([
  ['Scan', { TableName, ...filter }],
  ['PutItem', { TableName, Item, ...condition }],
])(
  'an error of the engine that nobody foresaw is a 500 to %s, with its message, and ends nothing',
  async (operation, input) => {
    const failed = await carryOut(operation, input);

    expect(failed).toMatchObject({
      status: 500,
      error: 'InternalServerError',
      message: expect.stringMatching(/^Cannot /),
    });
    expect((await carryOut('PutItem', { TableName, Item })).status).toBe(200);
    expect(warnings).toEqual([]);
  },
);
