import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { CounterError, StorageUnavailableError } from '../../../lib/books/errors.ts';
import { protectedEndpoint, publicEndpoint } from '../../../lib/endpoint.ts';
import type { Result } from '../../../lib/http/envelope.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { streamingEndpoint } from '../../../lib/streaming-endpoint.ts';
import { type CapturedLog, captureLog } from '../../support/captured-log.ts';
import '../../support/collect-streams.ts';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';
const config = { signingSecret: secret, corsOrigin: undefined };
const json = { 'Content-Type': 'application/json' };

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
});

/** Calls a public endpoint. */
const run = (handle: () => Promise<Result>, corsOrigin?: string) =>
  publicEndpoint({ ...config, corsOrigin }, outcomes.bookUpdated, handle)(createEvent(), createContext());

describe('publicEndpoint', () => {
  const anyData = [undefined, null, [], 0, false, '', { title: 'Zażółć 📚' }, { statusCode: 418, body: 'x' }];
  test.each(anyData)('what the handler returns is the data of the envelope: %j', async (data) => {
    expect(await run(async () => ({ data, headers: { ETag: '"a"' } }))).toEqual({
      statusCode: 200,
      headers: { ...json, ETag: '"a"' },
      body: JSON.stringify({ status: 200, message: 'Book updated successfully', data: data ?? null }),
    });
  });

  // Servers of Node leave it out themselves.
  test('a 304 has headers and no body', async () => {
    const headers = { ETag: '"a"' };
    const response = await run(async () => ({ outcome: outcomes.notModified, headers }));

    expect(response).toEqual({
      statusCode: 304,
      headers: { ...outcomes.notModified.headers, ...headers },
      body: '',
    });
  });

  test.each<[name: string, thrown: unknown, status: number, message: string]>([
    ['an HttpError', new HttpError(outcomes.invalidToken), 401, 'Invalid token'],
    ['an unavailable storage', new StorageUnavailableError('10.0.0.1'), 503, 'Service unavailable'],
    ['an id that is taken', new CounterError('1'), 500, 'Internal server error'],
    ['a bug', new TypeError('cannot read secret-detail'), 500, 'Internal server error'],
    ['a false HttpError', { name: 'HttpError', outcome: { status: 201 } }, 500, 'Internal server error'],
    ['an error with a status', Object.assign(new Error(), { statusCode: 418 }), 500, 'Internal server error'],
    ['a string', 'secret-detail', 500, 'Internal server error'],
    ['undefined', undefined, 500, 'Internal server error'],
  ])(
    'a handler that throws %s ends in the envelope, without its text',
    async (_, thrown, status, message) => {
      const expected = {
        statusCode: status,
        headers: {
          ...json,
          ...(status === 401 && { 'WWW-Authenticate': 'BookCatalog' }),
          ...(status === 503 && { 'Retry-After': '1' }),
        },
        body: JSON.stringify({ status, message, data: null }),
      };
      const throwAtOnce = () => {
        throw thrown;
      };

      expect(await run(() => Promise.reject(thrown))).toEqual(expected);
      expect(await run(throwAtOnce)).toEqual(expected);
      expect(log.lines).toMatchObject(Array(2).fill({ level: status >= 500 ? 'ERROR' : 'INFO', status }));
    },
  );

  test('data that cannot be written as JSON is an internal error and not a crash', async () => {
    expect((await run(async () => ({ data: { id: 1n } }))).statusCode).toBe(500);
    expect(log.lines).toMatchObject([{ level: 'ERROR', status: 500, error: { name: 'TypeError' } }]);
  });

  test('with an origin, responses and errors may be read by its scripts', async () => {
    const headers = {
      'Access-Control-Allow-Origin': 'https://a.test',
      'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Link, Location, Retry-After',
    };

    expect((await run(async () => ({}), 'https://a.test')).headers).toMatchObject(headers);
    expect((await run(() => Promise.reject(new Error()), 'https://a.test')).headers).toMatchObject(headers);
  });

  test('a handler that would run into the timeout of the function gets a 503 in its last 100 ms', async () => {
    const timeoutMs = 250;
    const endpoint = publicEndpoint(config, outcomes.booksRetrieved, () => new Promise(() => {}));

    // Timers of one process fire in the order in which they are due, however busy the machine is.
    const notYet = setTimeout(timeoutMs - 110, 'still running');
    const tooLate = setTimeout(timeoutMs, 'timed out');
    const pending = endpoint(createEvent(), createContext(timeoutMs));

    expect(await Promise.race([pending, notYet])).toBe('still running');
    expect(await Promise.race([pending, tooLate])).toMatchObject({ statusCode: 503 });
    const cause = { message: 'the function was about to time out' };
    expect(log.lines).toMatchObject([{ level: 'ERROR', status: 503, error: { name: 'HttpError', cause } }]);
  });

  test('a handler that fails after its 503 disturbs nobody', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const { promise, reject } = Promise.withResolvers<never>();
    const endpoint = publicEndpoint(config, outcomes.booksRetrieved, () => promise);

    const response = await endpoint(createEvent(), createContext(0));
    reject(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);

    expect(response.statusCode).toBe(503);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe.each([
  ['protectedEndpoint', protectedEndpoint],
  ['streamingEndpoint', streamingEndpoint],
] as const)('%s', (_name, makeEndpoint) => {
  const valid = forgeToken({ secret });

  test.each([
    ['the last of two tokens is valid', 200, ['x', valid], secret],
    ['the first of two tokens is valid', 401, [valid, 'x'], secret],
    ['an event has no headers', 401, undefined, secret],
    ['the check itself fails', 500, [valid], ''],
  ])('when %s: %i; only 200 reaches the handler', async (_case, status, tokens, signingSecret) => {
    const handle = vi.fn(async () => ({ data: ['1'] }));
    const endpoint = makeEndpoint({ ...config, signingSecret }, outcomes.booksRetrieved, handle);
    const multiValueHeaders = tokens ? { Authorization: tokens } : null;
    const event = createEvent({ headers: null, multiValueHeaders } as never);

    expect((await endpoint(event, createContext())).statusCode).toBe(status);
    expect(handle).toHaveBeenCalledTimes(status === 200 ? 1 : 0);
  });
});
