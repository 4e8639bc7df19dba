import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BookNotFoundError, StorageUnavailableError } from '../../../lib/books/errors.ts';
import { protectedEndpoint, publicEndpoint } from '../../../lib/endpoint.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { type CapturedLog, captureLog } from '../../support/captured-log.ts';
import { forgeToken } from '../../support/forge-token.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';
const config = { signingSecret: secret, corsOrigin: undefined };
const json = { 'Content-Type': 'application/json' };

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('publicEndpoint', () => {
  test('what the handler returns is the data of the envelope', async () => {
    const endpoint = publicEndpoint(config, outcomes.bookCreated, async () => ({
      data: { id: 1, title: 'Zażółć 📚' },
    }));

    const response = await endpoint(createEvent(), createContext());

    expect(response).toEqual({
      statusCode: 201,
      headers: json,
      body: '{"status":201,"message":"Book created successfully","data":{"id":1,"title":"Zażółć 📚"}}',
    });
  });

  test.each([
    ['nothing', undefined, null],
    ['null', null, null],
    ['an empty array', [], []],
    ['zero', 0, 0],
    ['false', false, false],
    ['an empty string', '', ''],
    ['something that looks like a response', { statusCode: 418, body: 'x' }, { statusCode: 418, body: 'x' }],
  ])('a handler that returns %s has it as data', async (_name, returned, data) => {
    const endpoint = publicEndpoint(config, outcomes.bookDeleted, async () => ({ data: returned }));

    const response = await endpoint(createEvent(), createContext());

    expect(response.statusCode).toBe(200);
    expect(JSON.parse(response.body)).toEqual({ status: 200, message: 'Book deleted successfully', data });
  });

  test('no token is asked for', async () => {
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => ({ data: 'reached' }));

    const response = await endpoint(createEvent({ headers: { Authorization: 'nonsense' } }), createContext());

    expect(response.statusCode).toBe(200);
  });

  test.each([
    ['an HttpError', new HttpError(outcomes.invalidInput), 400, 'Invalid input'],
    ['a domain error', new BookNotFoundError(), 404, 'Book not found'],
    ['a bug', new TypeError('cannot read secret-detail'), 500, 'Internal server error'],
    ['a string', 'secret-detail', 500, 'Internal server error'],
    ['undefined', undefined, 500, 'Internal server error'],
  ])(
    'a handler that throws %s ends in the envelope, without its text',
    async (_name, thrown, status, message) => {
      const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => {
        throw thrown;
      });

      const response = await endpoint(createEvent(), createContext());

      expect(response).toEqual({
        statusCode: status,
        headers: json,
        body: JSON.stringify({ status, message, data: null }),
      });
    },
  );

  test('a handler that throws before its first await ends in the envelope as well', async () => {
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, () => {
      throw new BookNotFoundError();
    });

    expect((await endpoint(createEvent(), createContext())).statusCode).toBe(404);
  });

  test('data that cannot be written as JSON is an internal error and not a crash', async () => {
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async () => ({ data: { id: 1n } }));

    const response = await endpoint(createEvent(), createContext());

    expect(JSON.parse(response.body)).toEqual({ status: 500, message: 'Internal server error', data: null });
    expect(log.lines).toMatchObject([{ level: 'ERROR', status: 500, error: { name: 'TypeError' } }]);
  });

  test('an unavailable storage is 503 and says when to come again', async () => {
    const endpoint = publicEndpoint(config, outcomes.booksRetrieved, async () => {
      throw new StorageUnavailableError('connect ECONNREFUSED 10.0.0.1:8000');
    });

    expect(await endpoint(createEvent(), createContext())).toEqual({
      statusCode: 503,
      headers: { ...json, 'Retry-After': '1' },
      body: '{"status":503,"message":"Service unavailable","data":null}',
    });
  });

  test('a handler that would run into the timeout of the function is answered with 503 in its last 100 ms', async () => {
    const timeoutMs = 250;
    const endpoint = publicEndpoint(config, outcomes.booksRetrieved, () => new Promise(() => {}));

    // Timers of one process fire in the order in which they are due, however busy the machine is.
    const notYet = setTimeout(timeoutMs - 110, 'still running');
    const tooLate = setTimeout(timeoutMs, 'timed out');
    const pending = endpoint(createEvent(), createContext(timeoutMs));
    const early = await Promise.race([pending, notYet]);
    const response = await Promise.race([pending, tooLate]);

    expect(early).toBe('still running');
    expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
    expect(log.lines).toMatchObject([
      { level: 'ERROR', status: 503, error: { cause: { message: 'the function was about to time out' } } },
    ]);
  });

  test('a handler that fails after its time was up disturbs nobody', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    const { promise, reject } = Promise.withResolvers();
    const endpoint = publicEndpoint(config, outcomes.booksRetrieved, () => promise as Promise<never>);

    const response = await endpoint(createEvent(), createContext(0));
    reject(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onUnhandled);

    expect(response.statusCode).toBe(503);
    expect(unhandled).toEqual([]);
  });

  test('requests at the same time do not get each other’s answers', async () => {
    const endpoint = publicEndpoint(config, outcomes.bookRetrieved, async ({ body }) => {
      await setTimeout(Number(body) % 3);
      return { data: body };
    });

    const bodies = Array.from({ length: 20 }, (_, index) => String(index));
    const responses = await Promise.all(
      bodies.map((body) => endpoint(createEvent({ body }), createContext())),
    );

    expect(responses.map((response) => JSON.parse(response.body).data)).toEqual(bodies);
  });
});

describe('protectedEndpoint', () => {
  const valid = forgeToken({ secret });
  const reached = vi.fn(async () => ({ data: 'reached' }));
  const endpoint = protectedEndpoint(config, outcomes.bookRetrieved, reached);

  beforeEach(() => {
    reached.mockClear();
  });

  test.each(['Authorization', 'authorization', 'AUTHORIZATION', 'aUTHORIZATION'])(
    'a valid token in the header %s lets the request through',
    async (name) => {
      const response = await endpoint(createEvent({ headers: { [name]: valid } }), createContext());

      expect(JSON.parse(response.body)).toEqual({
        status: 200,
        message: 'Book retrieved successfully',
        data: 'reached',
      });
    },
  );

  test.each([
    ['no header', {}, 'Authorization token required'],
    ['an empty header', { Authorization: '' }, 'Authorization token required'],
    ['another header', { 'X-Authorization': valid }, 'Authorization token required'],
    ['a scheme', { Authorization: `Bearer ${valid}` }, 'Invalid token'],
    ['another secret', { Authorization: forgeToken({ secret: 'other' }) }, 'Invalid token'],
    ['an expired token', { Authorization: forgeToken({ secret, claims: { exp: 1 } }) }, 'Invalid token'],
  ])('%s: 401, and the operation is not carried out', async (_name, headers, message) => {
    const response = await endpoint(createEvent({ headers }), createContext());

    expect(response).toEqual({
      statusCode: 401,
      headers: json,
      body: JSON.stringify({ status: 401, message, data: null }),
    });
    expect(reached).not.toHaveBeenCalled();
  });

  test('headers that are null, as the console’s test button sends them, are headers without a token', async () => {
    const event = createEvent({ headers: null as never, multiValueHeaders: null as never });

    const response = await endpoint(event, createContext());

    expect(JSON.parse(response.body)).toMatchObject({ status: 401, message: 'Authorization token required' });
  });

  test('a fault in the check itself is an internal error and does not let the request through', async () => {
    const broken = protectedEndpoint({ ...config, signingSecret: '' }, outcomes.bookRetrieved, reached);

    const response = await broken(createEvent({ headers: { Authorization: valid } }), createContext());

    expect(response.statusCode).toBe(500);
    expect(reached).not.toHaveBeenCalled();
  });

  // Outermost first: the log sees the finished envelope, and the envelope sees what authentication throws.
  test('the stack is log, envelope, authentication, handler', async () => {
    const steps: string[] = [];
    const sign = crypto.subtle.verify.bind(crypto.subtle);
    vi.spyOn(crypto.subtle, 'verify').mockImplementation((...args) => {
      steps.push('authentication');
      return sign(...args);
    });
    const stringify = JSON.stringify;
    vi.spyOn(JSON, 'stringify').mockImplementation((value, ...rest: unknown[]) => {
      if (value?.message === 'Book retrieved successfully') steps.push('envelope');
      if (value?.message === 'request') steps.push(`log of ${value.status}`);
      return stringify(value, ...(rest as []));
    });
    const traced = protectedEndpoint(config, outcomes.bookRetrieved, async () => {
      steps.push('handler');
      return {};
    });

    await traced(createEvent({ headers: { AUTHORIZATION: valid } }), createContext());

    expect(steps).toEqual(['authentication', 'handler', 'envelope', 'log of 200']);
  });

  test('a refused request is logged with the status that the client gets', async () => {
    await endpoint(createEvent(), createContext());

    expect(log.lines).toMatchObject([{ level: 'INFO', status: 401 }]);
  });
});
