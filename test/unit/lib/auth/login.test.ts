import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createCredentialsMatcher } from '../../../../lib/auth/credentials.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { loadHandlers, settings } from '../../../support/load-handlers.ts';

test('any pair matches another exactly if both members are equal', () => {
  // Few characters, so that equal ones are drawn often enough; the third is Cyrillic.
  const text = fc.string({ unit: fc.constantFrom('a', 'A', 'а', 'ż', ' ', '\0'), maxLength: 2 });
  const anyPair = fc.record({ username: text, password: text });
  fc.assert(
    fc.property(anyPair, anyPair, (configured, other) => {
      const matches = createCredentialsMatcher(configured);
      const { username, password } = configured;

      expect(matches(configured)).toBe(true);
      expect(matches({ username, password: other.password })).toBe(other.password === password);
      expect(matches({ username: other.username, password })).toBe(other.username === username);
    }),
    { numRuns: 2_000 },
  );
});

test('a token that cannot be signed is a 500, with the cause in the log', async () => {
  const log = captureLog();
  vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key'));
  // The function needs no storage, and has none in the cloud.
  const call = await loadHandlers('', ['POST /token']);

  const body = JSON.stringify({ username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD });
  const { envelope } = await call('POST', '/token', { body });

  expect(envelope).toEqual({ status: 500, message: 'Could not generate token', data: null });
  expect(log.lines).toMatchObject([{ level: 'ERROR', error: { cause: { message: 'no key' } } }]);
});

test('without its settings the function does not load', async () => {
  for (const name of Object.keys(settings)) vi.stubEnv(name, '');
  vi.resetModules();

  await expect(import('../../../../handlers/create-token.ts')).rejects.toThrow(
    'SECRET_TOKEN is empty; AUTH_USERNAME is empty; AUTH_PASSWORD is empty',
  );
});
