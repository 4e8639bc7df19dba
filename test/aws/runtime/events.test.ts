import { expect, test } from 'vitest';
import { endpoints } from '../../../serverless/functions.ts';
import { seedBooks } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { testSettings, validToken } from '../../support/local-service.ts';
import { invoke, startForTest } from './start-function.ts';

const { open } = await useTables();

// Those of other services are refused before any work, as test/unit/lib/endpoint.test.ts shows.
test.each(endpoints)(
  '$name survives any event, and serves the next request',
  async ({ name, event: { method, path } }) => {
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
    const instance = await startForTest(name, { DB_URL: table.url });

    for (const event of [null, 'ping', {}]) expect((await invoke(instance, event)).statusCode).toBe(400);
    for (const members of [
      { headers: { Authorization: 7 } },
      { multiValueHeaders: 'x' },
      { headers: [null], body: 1, path: {} },
    ]) {
      const event = { ...request, queryStringParameters: 'x', pathParameters: 1, ...members };
      expect([200, 201, 400, 401, 404]).toContain((await invoke(instance, event)).statusCode);
    }

    expect((await invoke(instance, request)).envelope.message).toMatch(/success/);
  },
);
