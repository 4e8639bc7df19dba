import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { protectedEndpoint, publicEndpoint } from '../../../lib/endpoint.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { logRequests, writeLog } from '../../../lib/log.ts';
import { type CapturedLog, captureLog } from '../../support/captured-log.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';
const config = { signingSecret: secret, corsOrigin: undefined };

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('writeLog', () => {
  test('a message is one line of JSON with time and level, whatever its fields hold', () => {
    vi.useFakeTimers({ now: new Date('2026-11-21T10:20:30.456Z') });
    const line = '{"timestamp":"2026-11-21T10:20:30.456Z","level":"WARN","message":"something"';

    writeLog('WARN', 'something');
    writeLog('WARN', 'something', { route: 'GET /books\nfake line', missing: undefined });

    expect(log.text).toBe(`${line}}\n${line},"route":"GET /books\\nfake line"}\n`);
  });

  test('an error is written with name, message, stack and the chain of its causes, and nothing else', () => {
    const root = Object.assign(new TypeError('root'), { $response: { body: 'confidential' } });
    const error = new Error('outer', { cause: root });

    writeLog('ERROR', 'request', { error });

    const cause = { name: 'TypeError', message: 'root', stack: root.stack };
    expect(log.lines[0]?.error).toEqual({ name: 'Error', message: 'outer', stack: error.stack, cause });
  });

  test('of a longer chain, five causes are written', () => {
    const chain = Array.from({ length: 9 }).reduce<Error>(
      (cause) => new Error('link', { cause }),
      new Error(),
    );

    writeLog('ERROR', 'request', { error: chain });

    expect(log.text.match(/"message":"link"/g)).toHaveLength(6);
  });

  // JSON.stringify throws at each of these, and a log that throws would take the response with it.
  test.each<[string, (error: Error) => unknown]>([
    ['a loop of causes', (error) => new Error('inner', { cause: error })],
    ['a process, which refers to itself', () => process],
    ['a bigint', () => 1n],
  ])('an error whose cause is %s is written', (_name, makeCause) => {
    const error = new Error('outer');
    error.cause = makeCause(error);

    writeLog('ERROR', 'request', { error });

    expect(log.lines).toMatchObject([{ message: 'request', error: { message: 'outer' } }]);
  });
});

describe('logRequests', () => {
  test('a request is one line with its ids, route, status and duration', async () => {
    vi.useFakeTimers({ now: new Date('2026-11-21T10:20:30.456Z'), toFake: ['Date', 'performance'] });
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => {
      vi.advanceTimersByTime(12.3456);
      return {};
    });

    await endpoint(createEvent({ resource: '/book/{id}', path: '/book/17' }), createContext());

    const common = { timestamp: '2026-11-21T10:20:30.468Z', level: 'INFO', message: 'request', status: 200 };
    const ids = { requestId: 'lambda-request-id', apiRequestId: 'gateway-request-id' };
    const expected = { ...common, ...ids, route: 'GET /book/{id}', durationMs: 12.346, coldStart: true };
    expect(log.lines).toEqual([expected]);
  });

  test('only the first request of each function is a cold start, whether it succeeds or not', async () => {
    const endpoints = [1, 2].map(() => {
      const handle = vi.fn(async () => ({})).mockRejectedValueOnce(new HttpError(outcomes.invalidInput));
      return publicEndpoint(config, outcomes.bookRetrieved, handle);
    });

    for (const endpoint of endpoints) {
      for (let count = 0; count < 3; count += 1) await endpoint(createEvent(), createContext());
    }

    expect(log.lines.map(({ coldStart }) => coldStart)).toEqual([true, false, false, true, false, false]);
  });

  test.each([
    [forgeToken({ secret, claims: { exp: 1 } }), 'ERR_JWT_EXPIRED'],
    [forgeToken({ secret: 'other' }), 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    [forgeToken({ header: { alg: 'none' }, secret }), 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['nonsense', 'ERR_JWS_INVALID'],
    ['', undefined],
  ])(
    'the token %j is logged by the code of its refusal, without itself or a stack',
    async (token, reason) => {
      const endpoint = protectedEndpoint(config, outcomes.bookRetrieved, async () => ({}));

      await endpoint(createEvent({ headers: { Authorization: token } }), createContext());

      expect(log.lines).toMatchObject([{ level: 'INFO', status: 401 }]);
      expect(log.lines[0]?.reason).toBe(reason);
      expect(log.lines[0]).not.toHaveProperty('error');
      if (token !== '') expect(log.text).not.toContain(token);
    },
  );

  test('a request without a response counts as failed', async () => {
    const bare = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
      .use(logRequests())
      .handler(() => Promise.reject(new Error('no envelope')));

    await expect(bare(createEvent(), createContext())).rejects.toThrow('no envelope');

    expect(log.lines).toMatchObject([{ level: 'ERROR', status: 500, error: { message: 'no envelope' } }]);
  });
});
