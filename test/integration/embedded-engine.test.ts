import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { startEmbeddedEngine } from '../../serverless/local/engine/embedded-engine.ts';
import { startStorage } from '../../serverless/local/engine/start-storage.ts';
import { createDataFolder } from '../support/local-service.ts';

const dataFolder = createDataFolder();
const otherFolder = createDataFolder();
afterAll(() => Promise.all([dataFolder, otherFolder].map((folder) => rm(folder, { recursive: true }))));

process.env.AWS_SESSION_TOKEN = 'of the developer';
const warnings: string[] = [];
const { url } = await startStorage({ dataFolder }, (problem) => warnings.push(problem));
const { origin } = new URL(url);
const other = await startEmbeddedEngine(otherFolder, () => {});

const TableName = 'books';
const Key = { shard: { N: '1' }, id: { N: '7' } };
const read = { TableName, Key };
const Item = { ...Key, title: { S: 'Emma' } };

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
const startOfKey = String(process.env.AWS_ACCESS_KEY_ID).slice(0, -1);

test.each<[string, Readonly<Record<string, string>>, string?]>([
  ['without an access key id', target],
  ['with the access key id of another engine', { ...target, authorization: signedWith(other.accessKeyId) }],
  ['with the start of the access key id', { ...target, authorization: signedWith(startOfKey) }],
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
  expect(process.env.AWS_SESSION_TOKEN).toBeUndefined();
});

// dynalite throws an error while it filters what it has read.
const filter = { FilterExpression: 'begins_with(nothing, nowhere)' };
// dynalite throws an error while it holds the lock of an item.
const condition = { ConditionExpression: 'title IN (nothing)' };

test.each([
  ['Scan', { TableName, ...filter }],
  ['PutItem', { TableName, Item, ...condition }],
  ['BatchGetItem', {}],
])(
  'what the engine lacks, or a bug of it, is a 500 to %s, with a message, and ends nothing',
  async (operation, input) => {
    const failed = await carryOut(operation, input);

    expect(failed).toMatchObject({
      status: 500,
      error: 'InternalServerError',
      message: expect.stringMatching(/^Cannot |^the embedded engine has no BatchGetItem$/),
    });
    expect((await carryOut('PutItem', { TableName, Item })).status).toBe(200);
    expect(warnings).toEqual([]);
  },
);
