import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createCredentialsMatcher } from '../../../../lib/auth/credentials.ts';
import { type CapturedLog, captureLog } from '../../../support/captured-log.ts';
import { loadHandlers, settings } from '../../../support/load-handlers.ts';

const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = settings;

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
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
});

describe('POST /token', () => {
  // The function needs no storage, and has none in the cloud.
  const post = async (body: object) =>
    (await loadHandlers('', ['POST /token']))('POST', '/token', { body: JSON.stringify(body) });

  test('neither the configured pair nor the token that it gets is in the log', async () => {
    const { envelope } = await post({ username, password });

    const { token } = envelope.data as { token: string };
    expect(log.lines).toMatchObject([{ status: 200 }]);
    for (const part of [username, password, ...token.split('.')]) expect(log.text).not.toContain(part);
  });

  test('a token that cannot be signed: 500, with the cause in the log', async () => {
    vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key'));

    const { envelope } = await post({ username, password });

    expect(envelope).toEqual({ status: 500, message: 'Could not generate token', data: null });
    expect(log.lines).toMatchObject([{ level: 'ERROR', error: { cause: { message: 'no key' } } }]);
  });

  test.each(['SECRET_TOKEN', 'AUTH_USERNAME', 'AUTH_PASSWORD'])(
    'without %s the function does not load',
    async (name) => {
      await post({});
      vi.stubEnv(name, '');
      vi.resetModules();

      await expect(import('../../../../handlers/create-token.ts')).rejects.toThrow(`${name} is empty`);
    },
  );
});
