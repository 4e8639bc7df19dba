import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { createDynamoDBClient } from '../../../../../lib/dynamodb/connection/client.ts';

const region = 'us-east-1';
const client = createDynamoDBClient({ endpoint: 'http://127.0.0.1:1', region, tableName: '' });

test('one signer signs all requests, which keeps the key of the day', async () => {
  expect(await client.config.signer()).toBe(await client.config.signer());
});

test('of the middleware of the SDK, those that write logs, describe its version and look for loops are left out', () => {
  const stock = new DynamoDBClient({ region }).middlewareStack.identify();

  const leftOut = /^(logger|getUserAgent|recursionDetection)Middleware /;
  expect(client.middlewareStack.identify()).toEqual(stock.filter((middleware) => !leftOut.test(middleware)));
});
