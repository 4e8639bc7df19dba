import { once } from 'node:events';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { counterKey } from '../../lib/dynamodb/table/keys.ts';
import { startEngine } from '../fakes/engine.ts';
import { connect, createBookTable, readCounter } from '../support/book-table.ts';

test('the engine carries out no request that its client has abandoned while others were before it', async () => {
  const { server: engine, endpoint, stop } = await startEngine();
  onTestFinished(stop);
  const table = await createBookTable(endpoint);
  let arrived = 0;
  engine.on('request', () => {
    arrived += 1;
  });
  const Authorization = 'AWS4-HMAC-SHA256 Credential=local/';
  const first = request(endpoint, { method: 'POST', headers: { Authorization, 'Content-Length': 2 } });
  first.write('{');
  await expect.poll(() => arrived).toBe(1);
  const count = (abortSignal?: AbortSignal) => {
    const input = { Key: counterKey, UpdateExpression: 'ADD lastId :one', ExpressionAttributeValues: { ':one': 1 } };
    const command = new UpdateCommand({ TableName: table.tableName, ...input });
    return connect(endpoint).send(command, { ...(abortSignal && { abortSignal }) });
  };
  const countConnections = promisify(engine.getConnections.bind(engine));
  const abandon = new AbortController();
  const awaited = count();
  await expect.poll(() => arrived).toBe(2);
  const connections = await countConnections();
  const abandoned = Array.from({ length: 20 }, () => count(abandon.signal).catch(() => 'abandoned'));
  await expect.poll(() => arrived).toBe(22);

  abandon.abort();
  expect(await Promise.all(abandoned)).toEqual(Array(20).fill('abandoned'));
  await expect.poll(() => countConnections()).toBe(connections);
  first.end('}');
  await once(first, 'response');
  await awaited;

  expect(await readCounter(table)).toBe(1);
});
