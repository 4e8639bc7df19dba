import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { functions } from '../../../serverless/packaging/package-service.ts';
import type { LambdaInstance } from '../../../tools/runtime/lambda-instance.ts';
import { toHttpResponse } from '../../../tools/runtime/runtime-api.ts';
import { type BookTable, emma, readCounter, seedBooks, storeBook } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { settings, startFunction } from './start-function.ts';

/** setTimeout takes no more. */
const maxTimerMs = 2 ** 31 - 1;

const { open } = await useTables();

describe.each(functions)('$name, invoked by others than API Gateway', ({ name, event: { method, path } }) => {
  const request = createEvent({
    httpMethod: method,
    resource: path,
    pathParameters: { id: '1' },
    headers: { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) },
    body: JSON.stringify({
      title: 'new',
      username: settings.AUTH_USERNAME,
      password: settings.AUTH_PASSWORD,
    }),
  });
  const { requestContext, httpMethod, ...rest } = request;
  const otherEvents = [
    ...[
      {},
      null,
      'ping',
      42,
      true,
      [],
      { warmer: true },
      { Records: [{ eventSource: 'aws:sqs', body: '{}' }] },
    ],
    { httpMethod, ...rest },
    ...[null, 'context', 1].map((context) => ({ ...request, requestContext: context })),
    { ...rest, version: '2.0', requestContext: { http: { method, path } } },
  ];

  let table: BookTable;
  let instance: LambdaInstance;

  beforeAll(async () => {
    table = await open();
    await seedBooks(table, 1);
    instance = await startFunction(name, { DB_URL: table.url });
  });
  afterAll(() => instance.stop());

  const invoke = async (event: unknown, timeoutMs?: number) => {
    const { statusCode, body } = await toHttpResponse(await instance.api.invoke(event, timeoutMs));
    return { statusCode, envelope: JSON.parse((await buffer(body)).toString()) };
  };

  test('refuses the event before any work, without an alarm, and serves the next request', async () => {
    for (const event of otherEvents) {
      expect(await invoke(event)).toEqual({
        statusCode: 400,
        envelope: { status: 400, message: 'Bad request', data: null },
      });
    }

    expect(await readCounter(table)).toBe(1);
    const lines = instance.output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const line = { level: 'INFO', message: 'request', status: 400, reason: 'ERR_NOT_API_GATEWAY' };
    expect(lines).toEqual(otherEvents.map(() => expect.objectContaining(line)));
    expect((await invoke(request)).envelope.message).toMatch(/success/);
  });

  test.each([
    { headers: { Authorization: 7 } },
    { multiValueHeaders: 'x' },
    { headers: [null], body: 1, path: {} },
  ])('survives a request with %j', async (members) => {
    const { statusCode } = await invoke({
      ...request,
      queryStringParameters: 'x',
      pathParameters: 1,
      ...members,
    });

    expect([200, 201, 400, 401, 404]).toContain(statusCode);
  });

  test('serves a request whose deadline is beyond what a timer can wait for', async () => {
    await storeBook(table, { id: 1, ...emma });

    expect((await invoke(request, 2 * maxTimerMs)).envelope.message).toMatch(/success/);
  });
});
