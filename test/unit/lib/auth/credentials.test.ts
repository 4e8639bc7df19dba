import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCredentialsMatcher } from '../../../../lib/auth/credentials.ts';

const expected = { username: 'admin', password: 'password' };

describe('createCredentialsMatcher', () => {
  test('the configured pair matches', () => {
    expect(createCredentialsMatcher(expected)({ username: 'admin', password: 'password' })).toBe(true);
  });

  test('any pair matches another exactly if both members are equal', () => {
    // Few characters, so that equal ones are drawn often enough.
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ż', ' '), maxLength: 2 });
    const pair = fc.record({ username: text, password: text });
    fc.assert(
      fc.property(pair, pair, (given, configured) => {
        const equal = given.username === configured.username && given.password === configured.password;

        expect(createCredentialsMatcher(configured)(given)).toBe(equal);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['a wrong username', { username: 'root', password: 'password' }],
    ['a wrong password', { username: 'admin', password: 'passwort' }],
    ['nothing', { username: '', password: '' }],
    ['both exchanged', { username: 'password', password: 'admin' }],
    ['another border between the two', { username: 'adminp', password: 'assword' }],
    ['another case', { username: 'Admin', password: 'password' }],
    ['a space at the end', { username: 'admin', password: 'password ' }],
    ['a NUL at the end', { username: 'admin', password: 'password\0' }],
    ['a very long password', { username: 'admin', password: 'password'.repeat(100_000) }],
  ])('%s does not match', (_name, given) => {
    expect(createCredentialsMatcher(expected)(given)).toBe(false);
  });

  test('characters that look alike but are composed otherwise do not match', () => {
    const matches = createCredentialsMatcher({ username: 'e\u0301', password: '' });

    expect(matches({ username: 'é', password: '' })).toBe(false);
  });
});
