import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StorageUnavailableError } from '../../../../lib/books/errors.ts';
import { protectedEndpoint, publicEndpoint } from '../../../../lib/endpoint.ts';
import { HttpError, outcomes } from '../../../../lib/http/outcomes.ts';
import { logRequests } from '../../../../lib/log/request-log.ts';
import { type CapturedLog, captureLog } from '../../../support/captured-log.ts';
import { forgeToken } from '../../../support/forge-token.ts';
import { createContext, createEvent } from '../../../support/load-handlers.ts';

const secret = 'sentinel-of-the-signing-secret, longer than 32 bytes';
const config = { signingSecret: secret, corsOrigin: undefined };

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('logRequests', () => {
  test('a request is one line with its ids, route, status and duration', async () => {
    vi.useFakeTimers({ now: new Date('2026-11-21T10:20:30.456Z'), toFake: ['Date', 'performance'] });
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => {
      vi.advanceTimersByTime(12.3456);
      return {};
    });

    await endpoint(
      createEvent({ httpMethod: 'GET', resource: '/book/{id}', path: '/book/17' }),
      createContext(),
    );

    expect(log.lines).toEqual([
      {
        timestamp: '2026-11-21T10:20:30.468Z',
        level: 'INFO',
        message: 'request',
        requestId: 'lambda-request-id',
        apiRequestId: 'gateway-request-id',
        route: 'GET /book/{id}',
        status: 200,
        durationMs: 12.346,
        coldStart: true,
      },
    ]);
  });

  test('only the first request of an instance is a cold start, whether it succeeds or not', async () => {
    const handle = vi.fn(async () => ({}));
    handle.mockRejectedValueOnce(new HttpError(outcomes.invalidInput));
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, handle);

    await endpoint(createEvent(), createContext());
    await endpoint(createEvent(), createContext());
    await endpoint(createEvent(), createContext());

    expect(log.lines.map(({ coldStart }) => coldStart)).toEqual([true, false, false]);
  });

  test('each function counts its own cold start', async () => {
    await publicEndpoint(config, outcomes.bookRetrieved, async () => ({}))(createEvent(), createContext());
    await publicEndpoint(config, outcomes.bookRetrieved, async () => ({}))(createEvent(), createContext());

    expect(log.lines.map(({ coldStart }) => coldStart)).toEqual([true, true]);
  });

  test('requests at the same time have durations of their own', async () => {
    const endpoint = publicEndpoint(
      config,
      outcomes.bookRetrieved,
      ({ body }) => new Promise((resolve) => setTimeout(resolve, Number(body), {})),
    );

    await Promise.all([
      endpoint(createEvent({ body: '60', resource: '/slow' }), createContext()),
      endpoint(createEvent({ body: '0', resource: '/fast' }), createContext()),
    ]);

    const [fast, slow] = log.lines;
    expect([fast?.route, slow?.route]).toEqual(['GET /fast', 'GET /slow']);
    expect(slow?.durationMs).toBeGreaterThanOrEqual(59);
    expect(fast?.durationMs).toBeLessThan(Number(slow?.durationMs));
  });

  test('an answer of 5xx is an error with the cause and its stack', async () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:8000');
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => {
      throw new StorageUnavailableError('DynamoDB failed', { cause });
    });

    await endpoint(createEvent(), createContext());

    expect(log.lines).toMatchObject([
      {
        level: 'ERROR',
        status: 503,
        error: {
          name: 'StorageUnavailableError',
          message: 'DynamoDB failed',
          stack: expect.stringContaining('request-log.test.ts'),
          cause: { message: cause.message, stack: cause.stack },
        },
      },
    ]);
  });

  test.each([
    ['an expired token', { Authorization: forgeToken({ secret, claims: { exp: 1 } }) }, 'ERR_JWT_EXPIRED'],
    [
      'a wrong signature',
      { Authorization: forgeToken({ secret: 'other' }) },
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
    [
      'a forbidden method',
      { Authorization: forgeToken({ header: { alg: 'none' }, secret }) },
      'ERR_JOSE_ALG_NOT_ALLOWED',
    ],
    ['no JWT', { Authorization: 'nonsense' }, 'ERR_JWS_INVALID'],
    ['no token', {}, undefined],
  ])('%s is logged by its code and without a stack', async (_name, headers, reason) => {
    const endpoint = protectedEndpoint(config, outcomes.bookRetrieved, async () => ({}));

    await endpoint(createEvent({ headers }), createContext());

    expect(log.lines).toMatchObject([{ level: 'INFO', status: 401 }]);
    expect(log.lines[0]?.reason).toBe(reason);
    expect(log.lines[0]).not.toHaveProperty('error');
  });

  test('a request without a response counts as failed', async () => {
    const bare = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
      .use(logRequests())
      .handler(async () => {
        throw new Error('no envelope');
      });

    await expect(bare(createEvent(), createContext())).rejects.toThrow('no envelope');

    expect(log.lines).toMatchObject([{ level: 'ERROR', status: 500, error: { message: 'no envelope' } }]);
  });

  test('an event with nothing but nulls in it is answered and logged all the same', async () => {
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => {
      throw new Error('bug');
    });

    const response = await endpoint(createEvent({ requestContext: {} as never }), createContext());

    expect(response.statusCode).toBe(500);
    expect(log.lines).toHaveLength(1);
  });

  describe('what must stay out of the log', () => {
    const planted = {
      body: 'sentinel-of-the-body',
      password: 'sentinel-of-the-password',
      query: 'sentinel-of-the-query',
      header: 'sentinel-of-a-header',
      cookie: 'sentinel-of-a-cookie',
      path: 'sentinel-of-the-path',
      data: 'sentinel-of-the-answer',
    };
    const validToken = forgeToken({ secret });
    const refusedToken = forgeToken({ secret: 'other', claims: { exp: 1, note: 'sentinel' } });

    const requestWith = (token: string) =>
      createEvent({
        httpMethod: 'PUT',
        resource: '/book/{id}',
        path: `/book/${planted.path}`,
        pathParameters: { id: planted.path },
        headers: { Authorization: token, Cookie: planted.cookie, 'X-Api-Key': planted.header },
        multiValueHeaders: { Authorization: [token], Cookie: [planted.cookie] },
        queryStringParameters: { token: planted.query },
        multiValueQueryStringParameters: { token: [planted.query] },
        body: JSON.stringify({ title: planted.body, password: planted.password }),
        requestContext: {
          requestId: 'gateway-request-id',
          path: `/book/${planted.path}`,
          identity: { userAgent: planted.header, sourceIp: '192.0.2.1' },
        } as never,
      });

    test.each([
      ['that succeeds', validToken, async () => ({ data: { title: planted.data } })],
      ['whose token is refused', refusedToken, async () => ({})],
      ['whose token is no JWT', `${validToken}.`, async () => ({})],
      [
        'that is invalid',
        validToken,
        async () => {
          throw new HttpError(outcomes.invalidInput, { cause: new Error(planted.body) });
        },
      ],
      [
        'whose storage fails',
        validToken,
        async () => {
          const sdkError = Object.assign(new Error('timeout'), {
            $response: { headers: planted.header, body: planted.body },
            $metadata: { token: planted.query },
          });
          throw new StorageUnavailableError('DynamoDB failed', { cause: sdkError });
        },
      ],
    ])(
      'a request %s leaves no token, secret, body, header, query or path behind',
      async (_name, token, handle) => {
        const endpoint = protectedEndpoint(config, outcomes.bookUpdated, handle);

        await endpoint(requestWith(token), createContext());

        expect(log.lines).toHaveLength(1);
        expect(log.text).not.toContain('sentinel');
        for (const part of token.split('.').filter((text) => text !== ''))
          expect(log.text).not.toContain(part);
      },
    );
  });
});
