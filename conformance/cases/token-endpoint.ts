import assert from 'node:assert/strict';
import type { Test } from '../case.ts';
import { expectFailure, expectSuccess } from '../expect.ts';
import { decodeToken } from '../forge-token.ts';
import { outcomes } from '../outcomes.ts';
import type { SessionOptions } from '../session.ts';

/** How far the clocks of the service and of this machine may be apart. */
const clockToleranceSeconds = 10;

/** Makes a body, given the right credentials. */
type Body = (right: SessionOptions) => unknown;

const unreadableBodies: readonly (readonly [string, Body])[] = [
  ['an empty body', () => ''],
  ['malformed JSON', () => '{"username":'],
  ['the array []', () => []],
  ['the string "x"', () => '"x"'],
  ['the value null', () => 'null'],
  ['the credentials in an array', ({ username, password }) => [{ username, password }]],
  ['a number as username', ({ password }) => ({ username: 1, password })],
  ['null as username', ({ password }) => ({ username: null, password })],
  ['an array as username', ({ username, password }) => ({ username: [username], password })],
  ['a boolean as password', ({ username }) => ({ username, password: true })],
  ['null as password', ({ username }) => ({ username, password: null })],
  ['a wrong username and a number as password', () => ({ username: 'x', password: 1 })],
  ['bytes that are no UTF-8', () => Buffer.from('{"username":"\xff","password":"x"}', 'latin1')],
  ['a byte order mark before the JSON', () => '\ufeff{"username":"x","password":"x"}'],
  ['100,000 nested arrays', () => '['.repeat(100_000) + ']'.repeat(100_000)],
];

const wrongCredentials: readonly (readonly [string, Body])[] = [
  ['an empty object', () => ({})],
  ['no username', ({ password }) => ({ password })],
  ['no password', ({ username }) => ({ username })],
  ['a wrong username', ({ username, password }) => ({ username: `${username}x`, password })],
  ['a wrong password', ({ username, password }) => ({ username, password: `${password}x` })],
  ['a truncated password', ({ username, password }) => ({ username, password: password.slice(0, -1) })],
  ['the pair, cut elsewhere', ({ username, password }) => cutElsewhere(username, password)],
  ['a password with a NUL after it', ({ username, password }) => ({ username, password: `${password}\0` })],
  ['a password with a space after it', ({ username, password }) => ({ username, password: `${password} ` })],
  ['a username with a space after it', ({ username, password }) => ({ username: `${username} `, password })],
  ['a username in another case', ({ username, password }) => ({ username: swapCase(username), password })],
  ['member names in another case', ({ username, password }) => ({ Username: username, Password: password })],
];

/** POST /token: who gets a token, and what the token is. */
export default function addCases(test: Test): void {
  test('5.4, 5.5', 'The right credentials get an HS256 token for the configured time', async (catalog) => {
    const expected = Date.now() / 1000 + catalog.session.tokenLifetime;
    const response = await catalog.logIn();
    const { token, ...rest } = expectSuccess(response) as { token: string };
    assert.deepEqual(rest, {}, 'data besides the token');
    assert.equal(response.headers['cache-control'], 'no-store', 'Cache-Control');
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]{43}$/, `the token is header.payload.signature, got ${token}`);
    const { header, claims } = decodeToken(token);
    assert.equal((header as { alg: string }).alg, 'HS256', 'alg in the header');
    const { exp } = claims as { exp: number };
    assert.deepEqual(claims, { exp }, 'the claims');
    const isInTime = Number.isInteger(exp) && Math.abs(exp - expected) <= clockToleranceSeconds;
    assert.ok(isInTime, `exp is ${expected}, give or take ${clockToleranceSeconds}, got ${exp}`);
  });

  const contentType = 'application/x-www-form-urlencoded';
  for (const sent of [{ Authorization: 'Bearer nonsense' }, {}, { 'Content-Type': contentType }]) {
    test('2.1, 4.1', `A login with the headers ${JSON.stringify(sent)} gets a token`, async (catalog) =>
      expectSuccess(await catalog.logIn(undefined, sent)),
    );
  }

  test('2.4', 'Unknown members beside the right credentials are ignored', async (catalog) => {
    const { username, password } = catalog.session.options;
    const body = { username, password, id: null, scope: ['x'], expiresIn: 1e9 };
    expectSuccess(await catalog.logIn(body));
  });

  for (const [situation, makeBody] of unreadableBodies) {
    test('5.1, 2.2, 2.3', `A login with ${situation} is an invalid request payload`, async (catalog) =>
      expectFailure(await catalog.logIn(makeBody(catalog.session.options)), outcomes.invalidRequestPayload),
    );
  }

  for (const [situation, makeBody] of wrongCredentials) {
    test('5.2, 5.3', `A login with ${situation} has invalid credentials`, async (catalog) =>
      expectFailure(await catalog.logIn(makeBody(catalog.session.options)), outcomes.invalidCredentials),
    );
  }
}

/** Credentials that are the same text as the right ones. */
function cutElsewhere(username: string, password: string) {
  return { username: username + password.slice(0, 1), password: password.slice(1) };
}

/** Changes the case of a text. One without letters gets longer instead. */
function swapCase(text: string): string {
  const swapped = text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
  return swapped === text ? `${text}x` : swapped;
}
