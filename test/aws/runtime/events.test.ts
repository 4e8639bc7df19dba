import { expect, test } from 'vitest';
import { endpoints } from '../../../serverless/functions.ts';
import { readCounter, seedBooks } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { testSettings, validToken } from '../../support/local-service.ts';
import { invoke, startForTest } from './start-function.ts';

const { open } = await useTables();

/** Starts an instance of a function over a table with one book, and makes a request that it can serve. */
async function start({ name, event: { method, path } }: (typeof endpoints)[number]) {
  const table = await open();
  await seedBooks(table, 1);
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const request = createEvent({
    httpMethod: method,
    resource: path,
    pathParameters: { id: '1' },
    headers: { Authorization: validToken },
    body: JSON.stringify({ title: 'new', username, password }),
  });
  return { table, instance: await startForTest(name, { DB_URL: table.url }), request };
}

test.each(endpoints)(
  '$name refuses events that are not from API Gateway before any work, without an alarm, and serves the next request',
  async (definition) => {
    const { table, instance, request } = await start(definition);
    // Others are in test/unit/lib/endpoint.test.ts.
    const otherEvents = [null, 'ping', {}, { ...request, requestContext: { elb: {} } }];

    for (const event of otherEvents) {
      const envelope = { status: 400, message: 'Bad request', data: null };
      expect(await invoke(instance, event)).toEqual({ statusCode: 400, envelope });
    }

    expect(await readCounter(table)).toBe(1);
    const lines = instance.output.trimEnd().split('\n');
    const line = { level: 'INFO', message: 'request', status: 400, reason: 'ERR_NOT_API_GATEWAY' };
    expect(lines.map((text) => JSON.parse(text))).toMatchObject(otherEvents.map(() => line));
    expect((await invoke(instance, request)).envelope.message).toMatch(/success/);
  },
);

test.each(endpoints)('$name survives requests whose members have other types', async (definition) => {
  const { instance, request } = await start(definition);
  for (const members of [
    { headers: { Authorization: 7 } },
    { multiValueHeaders: 'x' },
    { headers: [null], body: 1, path: {} },
  ]) {
    const event = { ...request, queryStringParameters: 'x', pathParameters: 1, ...members };
    expect([200, 201, 400, 401, 404]).toContain((await invoke(instance, event)).statusCode);
  }

  expect((await invoke(instance, request)).envelope.message).toMatch(/success/);
});
