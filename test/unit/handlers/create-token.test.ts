import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CapturedLog, captureLog } from '../../support/captured-log.ts';
import { decodeToken } from '../../support/forge-token.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const now = 1_800_000_000;

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
  vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
  vi.stubEnv('SECRET_TOKEN', 'sentinel of the secret, longer than 32 bytes');
  vi.stubEnv('AUTH_USERNAME', 'librarian');
  vi.stubEnv('AUTH_PASSWORD', 'sentinel of the password');
  // The token function needs no storage, and has none in the cloud.
  vi.stubEnv('DB_URL', undefined);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Loads the function like a new instance of it, which reads its configuration while it loads. */
async function loadHandler() {
  vi.resetModules();
  return (await import('../../../handlers/create-token.ts')).handler;
}

async function post(body: string | null) {
  const handler = await loadHandler();
  const response = await handler(
    createEvent({ httpMethod: 'POST', resource: '/token', path: '/token', body }),
    createContext(),
  );
  return { ...response, envelope: JSON.parse(response.body) };
}

describe('POST /token', () => {
  test('the configured pair gets a token whose one claim is exp, and nothing else', async () => {
    const { statusCode, envelope } = await post(
      '{"username":"librarian","password":"sentinel of the password"}',
    );

    expect(statusCode).toBe(200);
    expect(envelope).toEqual({
      status: 200,
      message: 'Token generated successfully',
      data: { token: expect.any(String) },
    });
    expect(decodeToken(envelope.data.token).claims).toEqual({ exp: now + 900 });
  });

  test.each([
    ['a wrong password', '{"username":"librarian","password":"x"}'],
    ['a wrong username', '{"username":"x","password":"sentinel of the password"}'],
    ['no password', '{"username":"librarian"}'],
    ['an empty object', '{}'],
  ])('%s: 401 Invalid credentials', async (_name, body) => {
    const { statusCode, envelope } = await post(body);

    expect(statusCode).toBe(401);
    expect(envelope).toEqual({ status: 401, message: 'Invalid credentials', data: null });
  });

  test.each([
    null,
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"username":1,"password":"x"}',
    '{"username":"librarian","password":null}',
  ])('the body %j: 400 Invalid request payload', async (body) => {
    const { statusCode, envelope } = await post(body);

    expect(statusCode).toBe(400);
    expect(envelope).toEqual({ status: 400, message: 'Invalid request payload', data: null });
  });

  test('a token that cannot be signed: 500 Could not generate token, with the cause in the log', async () => {
    const handler = await loadHandler();
    vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key'));

    const response = await handler(
      createEvent({ body: '{"username":"librarian","password":"sentinel of the password"}' }),
      createContext(),
    );

    expect(JSON.parse(response.body)).toEqual({
      status: 500,
      message: 'Could not generate token',
      data: null,
    });
    expect(log.lines).toMatchObject([{ level: 'ERROR', error: { cause: { message: 'no key' } } }]);
  });

  test('neither the login nor the token that is given for it reaches the log', async () => {
    const { envelope } = await post('{"username":"librarian","password":"sentinel of the password"}');
    await post('{"username":"sentinel","password":"sentinel"}');
    await post('{"password":"sentinel"');

    expect(log.lines).toHaveLength(3);
    expect(log.text).not.toMatch(/sentinel|librarian/);
    expect(log.text).not.toContain(envelope.data.token);
  });

  test.each(['SECRET_TOKEN', 'AUTH_USERNAME', 'AUTH_PASSWORD'])(
    'without %s the function does not load',
    async (name) => {
      vi.stubEnv(name, '');

      await expect(loadHandler()).rejects.toThrow(`${name} is empty`);
    },
  );
});
