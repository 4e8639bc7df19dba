import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { test as base, expect, onTestFinished, vi } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { TokenNotSignedError } from '../../../lib/auth/errors.ts';
import { CounterError, OutcomeUnknownError, StorageUnavailableError } from '../../../lib/dynamodb/connection/errors.ts';
import { type ProxyHandler, protectedEndpoint, publicEndpoint } from '../../../lib/endpoint.ts';
import type { Result } from '../../../lib/http/envelope.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { invocationSignal } from '../../../lib/invocation-signal.ts';
import { protectedStreamingEndpoint } from '../../../lib/streaming-endpoint.ts';
import { captureLog } from '../../support/captured-log.ts';
import '../../support/collect-streams.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';
const config = { signingSecret: secret, corsOrigin: undefined };
const success = { status: 200, message: 'Book updated successfully' };
const json = { 'Content-Type': 'application/json' };

const test = base.extend('log', { auto: true }, () => captureLog());

/** Calls a public endpoint. */
const run = (handle: () => Promise<Result>, remainingMs?: number) =>
  publicEndpoint(config, success, handle)(createEvent(), createContext(remainingMs));

const anyData = [undefined, null, [], 0, false, '', { title: 'Zażółć 📚' }, { statusCode: 418, body: 'x' }];
test.each(anyData)('what the handler returns is the data of the envelope: %j', async (data) => {
  expect(await run(async () => ({ data, headers: { ETag: '"a"' } }))).toEqual({
    statusCode: 200,
    headers: { ...json, ETag: '"a"' },
    body: JSON.stringify({ status: 200, message: 'Book updated successfully', data: data ?? null }),
  });
});

// Servers of Node leave the body out themselves.
test('a 304 has headers and no body', async () => {
  expect(await run(async () => ({ outcome: outcomes.notModified, headers: { ETag: '"a"' } }))).toEqual({
    statusCode: 304,
    headers: { ETag: '"a"' },
    body: '',
  });
});

const challenge = { 'WWW-Authenticate': 'BookCatalog' };

test.for<[name: string, thrown: unknown, status: number, message: string, headers?: object]>([
  ['an HttpError', new HttpError(outcomes.invalidToken), 401, 'Invalid token', challenge],
  ['an error', new StorageUnavailableError('10.0.0.1'), 503, 'Service unavailable', { 'Retry-After': '1' }],
  ['an unknown outcome', new OutcomeUnknownError('10.0.0.1'), 503, 'Service unavailable', { 'Retry-After': '1' }],
  ['a token without a signature', new TokenNotSignedError('10.0.0.1'), 500, 'Could not generate token'],
  ['an id that is taken', new CounterError('1'), 500, 'Internal server error'],
  ['a bug', new TypeError('cannot read secret-detail'), 500, 'Internal server error'],
  ['a false HttpError', { name: 'HttpError', outcome: { status: 201 } }, 500, 'Internal server error'],
  ['an error with a status', Object.assign(new Error(), { statusCode: 418 }), 500, 'Internal server error'],
  ['a string', 'secret-detail', 500, 'Internal server error'],
  ['undefined', undefined, 500, 'Internal server error'],
])('a handler that throws %s ends in the envelope, without its text', async (row, { log }) => {
  const [, thrown, status, message, headers] = row;
  const throwAtOnce = () => {
    throw thrown;
  };

  for (const handle of [() => Promise.reject(thrown), throwAtOnce]) {
    expect(await run(handle)).toEqual({
      statusCode: status,
      headers: { ...json, ...headers },
      body: JSON.stringify({ status, message, data: null }),
    });
  }
  expect(log.lines).toMatchObject(Array(2).fill({ level: status >= 500 ? 'ERROR' : 'INFO', status }));
});

test('data that cannot be written as JSON is an internal error and not a crash', async ({ log }) => {
  expect((await run(async () => ({ data: { id: 1n } }))).statusCode).toBe(500);
  expect(log.lines).toMatchObject([{ level: 'ERROR', status: 500, error: { name: 'TypeError' } }]);
});

test('a handler that would run into the timeout gets a 503 in its last 100 ms, and its attempts end', async ({
  log,
}) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // middy imports it from there.
  vi.spyOn(timers, 'setTimeout').mockImplementation(setTimeout);
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.useRealTimers().restoreAllMocks();
    syncBuiltinESMExports();
  });
  let signal: AbortSignal | undefined;
  const ended = vi.fn();
  const pending = run(() => {
    signal = invocationSignal.getStore();
    return new Promise(() => {});
  }, 250).finally(ended);

  await vi.advanceTimersByTimeAsync(149);
  expect([signal?.aborted, ended.mock.calls.length]).toEqual([false, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect([signal?.aborted, ended.mock.calls.length]).toEqual([true, 1]);

  expect(await pending).toMatchObject({ statusCode: 503 });
  const cause = { message: 'the function was about to time out' };
  expect(log.lines).toMatchObject([{ level: 'ERROR', status: 503, error: { name: 'HttpError', cause } }]);
});

test('a handler that fails after its 503 disturbs nobody', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const { promise, reject } = Promise.withResolvers<never>();

  const response = await run(() => promise, 0);
  reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', unhandled);

  expect(response.statusCode).toBe(503);
  expect(unhandled).not.toHaveBeenCalled();
});

const valid = forgeToken({ secret });

test.each([
  [200, 'the last of two tokens is valid', ['x', valid], secret],
  [401, 'the first of two tokens is valid', [valid, 'x'], secret],
  [401, 'an event has no headers', undefined, secret],
  [500, 'the check itself fails', [valid], ''],
])('the status is %i when %s; only 200 reaches the handler', async (status, _case, tokens, signingSecret) => {
  for (const makeEndpoint of [protectedEndpoint, protectedStreamingEndpoint]) {
    const handle = vi.fn(async () => ({ data: ['1'] }));
    // With collect-streams.ts, both are called in the same way.
    const endpoint = makeEndpoint({ ...config, signingSecret }, success, handle) as ProxyHandler;
    const multiValueHeaders = tokens ? { Authorization: tokens } : null;
    const event = createEvent({ headers: null, multiValueHeaders } as never);

    expect((await endpoint(event, createContext())).statusCode, makeEndpoint.name).toBe(status);
    expect(handle).toHaveBeenCalledTimes(status === 200 ? 1 : 0);
  }
});
