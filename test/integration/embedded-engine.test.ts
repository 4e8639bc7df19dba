import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { createAccessKeyId } from '../../serverless/local/engine/access-key.ts';
import { startStorage } from '../../serverless/local/engine/start-storage.ts';
import { createDataFolder } from '../support/local-service.ts';

const dataFolder = createDataFolder();
afterAll(() => rm(dataFolder, { recursive: true }));

process.env.AWS_SESSION_TOKEN = 'of the developer';
const warnings: string[] = [];
const { url } = await startStorage({ dataFolder }, (problem) => warnings.push(problem));
const { origin } = new URL(url);

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

/** The start of a signature with an access key id. The engine reads no more of it. */
const signedWith = (accessKeyId = '') => `AWS4-HMAC-SHA256 Credential=${accessKeyId}/`;

async function send(body: unknown, headers: Readonly<Record<string, string>>, method = 'POST') {
  const response = await fetch(origin, { method, headers, ...(method === 'POST' && { body: JSON.stringify(body) }) });
  const text = await response.text();
  const { __type = '', message = '', ...output } = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, error: __type.split('#').at(-1), message, output };
}

/** Sends a request as the functions do. */
const carryOut = (operation: string, input: unknown) => {
  const authorization = signedWith(process.env.AWS_ACCESS_KEY_ID);
  return send(input, { authorization, 'x-amz-target': `DynamoDB_20120810.${operation}` });
};

await carryOut('PutItem', { TableName, Item });

const target = { 'x-amz-target': 'DynamoDB_20120810.GetItem' };
const elsewhere = { Origin: 'https://elsewhere.test' };
const preflight = {
  ...elsewhere,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'x-amz-target,authorization',
};
const oneOff = String(process.env.AWS_ACCESS_KEY_ID).replace(/.$/, (last) => (last === '0' ? '1' : '0'));

test.each<[string, Readonly<Record<string, string>>, string?]>([
  ['without an access key id', target],
  ['with the access key id of another engine', { ...target, authorization: signedWith(createAccessKeyId()) }],
  ['with an access key id that differs at its end', { ...target, authorization: signedWith(oneOff) }],
  ['with the start of the access key id', { ...target, authorization: signedWith(oneOff.slice(0, -1)) }],
  ['of a page of another origin', elsewhere],
  ['of a page of another origin that asks what it may send', preflight, 'OPTIONS'],
  ['of somebody who looks what listens there', {}, 'GET'],
])('the embedded engine refuses a request %s', async (_kind, given, method) => {
  const { status, headers, error, output } = await send(read, given, method);

  expect([status, error, output]).toEqual([400, 'UnrecognizedClientException', {}]);
  expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  expect(await carryOut('GetItem', read)).toMatchObject({ status: 200, output: { Item } });
});

test('the functions have an access key id that nobody can guess, and no session of the developer', () => {
  expect(process.env.AWS_ACCESS_KEY_ID).toMatch(/^[0-9a-f]{32}$/);
  expect(createAccessKeyId()).not.toBe(createAccessKeyId());
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
