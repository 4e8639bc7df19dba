import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterEach, test as base, expect, vi } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { protectedEndpoint, publicEndpoint } from '../../../lib/endpoint.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { logRequests, writeLog } from '../../../lib/log.ts';
import { captureLog } from '../../support/captured-log.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';
const config = { signingSecret: secret, corsOrigin: undefined };

const test = base.extend('log', () => captureLog());

afterEach(() => {
  vi.useRealTimers();
});

test('a message is one line of JSON with time and level, whatever its fields hold', ({ log }) => {
  vi.useFakeTimers({ now: new Date('2026-11-21T10:20:30.456Z') });
  const line = '{"timestamp":"2026-11-21T10:20:30.456Z","level":"WARN","message":"something"';

  writeLog('WARN', 'something');
  writeLog('WARN', 'something', { route: 'GET /books\nfake line', missing: undefined });

  expect(log.text).toBe(`${line}}\n${line},"route":"GET /books\\nfake line"}\n`);
});

test('an error is logged with name, message, stack and its causes, and nothing else', ({ log }) => {
  const root = Object.assign(new TypeError('root'), { $response: { body: 'confidential' } });
  const error = new Error('outer', { cause: root });

  writeLog('ERROR', 'request', { error });

  const cause = { name: 'TypeError', message: 'root', stack: root.stack };
  expect(log.lines[0]?.error).toEqual({ name: 'Error', message: 'outer', stack: error.stack, cause });
});

test('no text of a log line is longer than 2,000 characters, so that a line stays under 256 KB', ({ log }) => {
  const message = '\u0001'.repeat(2_000_000);
  const cause = Array.from({ length: 10 }).reduce<Error>((inner) => new Error(message, { cause: inner }), new Error());

  writeLog('ERROR', 'request', { error: cause, route: message });

  expect(log.text.length).toBeLessThan(256 * 1024);
  expect(log.lines).toMatchObject([{ route: message.slice(0, 2_000), error: { message: message.slice(0, 2_000) } }]);
});

// JSON.stringify would throw, and a log that throws would take the response with it.
test('an error that is its own cause is logged, with five causes at most', ({ log }) => {
  const error = new Error('outer');
  error.cause = error;

  writeLog('ERROR', 'request', { error });

  expect(log.lines).toMatchObject([{ message: 'request', error: { message: 'outer' } }]);
  expect(log.text.match(/"cause":/g)).toHaveLength(5);
});

test('what is thrown and is not an error is logged as text', ({ log }) => {
  writeLog('ERROR', 'request', { error: 404 });

  expect(log.lines[0]?.error).toBe('404');
});

const success = { status: 200, message: 'Book retrieved successfully' };

test('a request is one line with its ids, route, status and duration', async ({ log }) => {
  vi.useFakeTimers({ now: new Date('2026-11-21T10:20:29.456Z'), toFake: ['Date', 'performance'] });
  vi.advanceTimersByTime(1_000);
  const endpoint = publicEndpoint(config, success, async () => {
    vi.advanceTimersByTime(12.3456);
    return {};
  });

  await endpoint(createEvent({ resource: '/book/{id}', path: '/book/17' }), createContext());

  const common = { timestamp: '2026-11-21T10:20:30.468Z', level: 'INFO', message: 'request', status: 200 };
  const ids = { requestId: 'lambda-request-id', apiRequestId: 'gateway-request-id' };
  const expected = { ...common, ...ids, route: 'GET /book/{id}', durationMs: 12.346, coldStart: true };
  expect(log.lines).toEqual([expected]);
});

test('an event that is no request has a line, too, without an id of API Gateway', async ({ log }) => {
  await publicEndpoint(config, success, async () => ({}))({} as never, createContext());

  expect(log.lines).toMatchObject([{ requestId: 'lambda-request-id', status: 200 }]);
  expect(log.lines[0]).not.toHaveProperty('apiRequestId');
});

test('only the first request of each function is a cold start, whether it succeeds or not', async ({ log }) => {
  const refuse = () => Promise.reject(new HttpError(outcomes.invalidInput));
  for (const handle of [refuse, async () => ({})]) {
    const endpoint = publicEndpoint(config, success, handle);
    for (let count = 0; count < 3; count += 1) await endpoint(createEvent(), createContext());
  }

  expect(log.lines.map(({ coldStart }) => coldStart)).toEqual([true, false, false, true, false, false]);
});

test.for([
  [forgeToken({ secret, claims: { exp: 1 } }), 'ERR_JWT_EXPIRED'],
  [forgeToken({ secret: 'other' }), 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
  [forgeToken({ header: { alg: 'none' }, secret }), 'ERR_JOSE_ALG_NOT_ALLOWED'],
  ['nonsense', 'ERR_JWS_INVALID'],
  ['', undefined],
])('the refusal of the token %j is logged with the code %s', async ([Authorization = '', reason], { log }) => {
  const endpoint = protectedEndpoint(config, success, async () => ({}));

  await endpoint(createEvent({ headers: { Authorization } }), createContext());

  expect(log.lines).toMatchObject([{ level: 'INFO', status: 401 }]);
  expect(log.lines[0]?.reason).toBe(reason);
  expect(log.lines[0]).not.toHaveProperty('error');
});

test.for([
  ['the reason of a refusal', { status: 400, message: '' }, 'year'],
  ['no reason of a failure, whose error is logged', outcomes.serviceUnavailable, undefined],
] as const)('the log has %s', async ([, outcome, logged], { log }) => {
  const endpoint = publicEndpoint(config, success, () => Promise.reject(new HttpError(outcome, { reason: 'year' })));

  await endpoint(createEvent(), createContext());

  expect(log.lines[0]?.reason).toBe(logged);
});

test('a request without a response is logged as failed', async ({ log }) => {
  const send = (handle: () => Promise<APIGatewayProxyResult>) => {
    const bare = middy<APIGatewayProxyEvent, APIGatewayProxyResult>().use(logRequests()).handler(handle);
    return bare(createEvent(), createContext());
  };

  await expect(send(() => Promise.reject(new Error('no envelope')))).rejects.toThrow('no envelope');
  await send(async () => undefined as never);

  const failed = { level: 'ERROR', status: 500 };
  expect(log.lines).toMatchObject([{ ...failed, error: { message: 'no envelope' } }, failed]);
});
