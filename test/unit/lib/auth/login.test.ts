import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCredentialsMatcher } from '../../../../lib/auth/credentials.ts';
import { type CapturedLog, captureLog } from '../../../support/captured-log.ts';
import { decodeToken } from '../../../support/forge-token.ts';
import { loadHandlers, settings } from '../../../support/load-handlers.ts';

const now = 1_800_000_000;
const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = settings;

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
  vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('createCredentialsMatcher', () => {
  test('any pair matches another exactly if both members are equal', () => {
    // Few characters, so that equal ones are drawn often enough; the third is Cyrillic.
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'а', 'ż', ' ', '\0'), maxLength: 2 });
    const anyPair = fc.record({ username: text, password: text });
    fc.assert(
      fc.property(anyPair, anyPair, (configured, other) => {
        const matches = createCredentialsMatcher(configured);

        expect(matches(configured)).toBe(true);
        for (const given of [
          other,
          { ...configured, username: other.username },
          { ...configured, password: other.password },
        ]) {
          const equal = given.username === configured.username && given.password === configured.password;
          expect(matches(given)).toBe(equal);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    { username: 'adminp', password: 'assword' },
    { username: 'admin', password: 'password'.repeat(100_000) },
  ])('a pair of other lengths does not match (%#)', (given) => {
    expect(createCredentialsMatcher({ username: 'admin', password: 'password' })(given)).toBe(false);
  });
});

describe('POST /token', () => {
  // The function needs no storage, and has none in the cloud.
  const post = async (body: string | null) =>
    (await loadHandlers('', ['POST /token']))('POST', '/token', { body });

  test('the configured pair gets a token whose one claim is exp; neither is in the log', async () => {
    const { envelope } = await post(JSON.stringify({ username, password }));

    const data = { token: expect.any(String) };
    expect(envelope).toEqual({ status: 200, message: 'Token generated successfully', data });
    const { token } = envelope.data as { token: string };
    expect(decodeToken(token).claims).toEqual({ exp: now + 900 });
    expect(log.lines).toHaveLength(1);
    for (const part of [username, password, ...token.split('.')]) expect(log.text).not.toContain(part);
  });

  test.each([
    [JSON.stringify({ username, password: 'sentinel' }), 401, 'Invalid credentials'],
    [JSON.stringify({ username: 'sentinel', password }), 401, 'Invalid credentials'],
    ['{}', 401, 'Invalid credentials'],
    ['{"password":null}', 400, 'Invalid request payload'],
    ['{', 400, 'Invalid request payload'],
  ])('the body %s: %i', async (body, status, message) => {
    expect((await post(body)).envelope).toEqual({ status, message, data: null });
    expect(log.text).not.toMatch(/sentinel|librarian/);
  });

  test('a token that cannot be signed: 500, with the cause in the log', async () => {
    vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key'));

    const { envelope } = await post(JSON.stringify({ username, password }));

    expect(envelope).toEqual({ status: 500, message: 'Could not generate token', data: null });
    expect(log.lines).toMatchObject([{ level: 'ERROR', error: { cause: { message: 'no key' } } }]);
  });

  test.each(['SECRET_TOKEN', 'AUTH_USERNAME', 'AUTH_PASSWORD'])(
    'without %s the function does not load',
    async (name) => {
      await post('{}');
      vi.stubEnv(name, '');
      vi.resetModules();

      await expect(import('../../../../handlers/create-token.ts')).rejects.toThrow(`${name} is empty`);
    },
  );
});
