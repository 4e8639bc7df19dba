import { splitToken } from '../../support/forge-token.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectAnswer, expectOutcome } from '../envelope.ts';
import { ExpectationError, expectEqual, expectTrue } from '../expectation.ts';
import { outcomes } from '../outcomes.ts';

const lifetimeSeconds = 15 * 60;

/** How far the clocks of the service and of this machine may be apart. */
const clockToleranceSeconds = 10;

type Body = (right: ConformanceContext['credentials']) => unknown;

const unreadableBodies: readonly (readonly [string, Body])[] = [
  ['an empty body', () => ''],
  ['malformed JSON', () => '{"username":'],
  ['the array []', () => []],
  ['the string "x"', () => '"x"'],
  ['the number 1', () => '1'],
  ['the value null', () => 'null'],
  ['the value true', () => 'true'],
  ['the credentials in an array', (right) => [right]],
  ['a number as username', ({ password }) => ({ username: 1, password })],
  ['null as username', ({ password }) => ({ username: null, password })],
  ['an array as username', ({ username, password }) => ({ username: [username], password })],
  ['a boolean as password', ({ username }) => ({ username, password: true })],
  ['null as password', ({ username }) => ({ username, password: null })],
  ['an object as password', ({ username }) => ({ username, password: {} })],
  ['a wrong username and a number as password', () => ({ username: 'x', password: 1 })],
  ['bytes that are no UTF-8', () => Buffer.from('{"username":"\xff","password":"x"}', 'latin1')],
  ['a byte order mark before the JSON', (right) => `\ufeff${JSON.stringify(right)}`],
  ['100,000 arrays within each other', () => '['.repeat(100_000) + ']'.repeat(100_000)],
];

const wrongCredentials: readonly (readonly [string, Body])[] = [
  ['an empty object', () => ({})],
  ['no username', ({ password }) => ({ password })],
  ['no password', ({ username }) => ({ username })],
  ['a wrong username', ({ username, password }) => ({ username: `${username}x`, password })],
  ['a wrong password', ({ username, password }) => ({ username, password: `${password}x` })],
  [
    'a password without its last character',
    ({ username, password }) => ({ username, password: password.slice(0, -1) }),
  ],
  ['a password with a NUL after it', ({ username, password }) => ({ username, password: `${password}\0` })],
  ['a username with a space after it', ({ username, password }) => ({ username: `${username} `, password })],
  ['a username in another case', ({ username, password }) => ({ username: swapCase(username), password })],
  ['field names in another case', ({ username, password }) => ({ Username: username, Password: password })],
];

/** POST /token: who gets a token, and what the token is. */
export const tokenEndpointCases = defineCases('token', [
  {
    name: 'The right credentials get a token and nothing else as data',
    reference: 'specification 5.4',
    run: async (context) => {
      const data = expectOutcome(await context.logIn(context.credentials), outcomes.tokenGenerated);
      const token = (data as { token?: unknown } | null)?.token;
      expectTrue('the data', typeof token === 'string', 'an object with a string `token`', data);
      expectEqual('the data', data, { token });
    },
  },
  {
    name: 'A token has three parts, the method HS256 and the one claim exp, 15 minutes ahead',
    reference: 'specification 5.5',
    run: async (context) => {
      const before = Math.floor(Date.now() / 1000);
      const answer = await context.logIn(context.credentials);
      const after = Math.ceil(Date.now() / 1000);
      const { token } = expectOutcome(answer, outcomes.tokenGenerated) as { token: string };
      expectTrue('the token', /^[\w-]+\.[\w-]+\.[\w-]{43}$/.test(token), 'header.payload.signature', token);
      const { header, payload } = splitToken(token);
      expectEqual('alg in the header', readPart(header, token).alg, 'HS256');
      const claims = readPart(payload, token);
      expectEqual('the claims', Object.keys(claims), ['exp']);
      const exp = claims.exp as number;
      expectTrue('exp', Number.isInteger(exp), 'a number of whole seconds', exp);
      expectTrue(
        'exp',
        exp >= before + lifetimeSeconds - clockToleranceSeconds &&
          exp <= after + lifetimeSeconds + clockToleranceSeconds,
        `${before + lifetimeSeconds}, give or take ${clockToleranceSeconds}`,
        exp,
      );
    },
  },
  {
    name: 'Unknown fields beside the right credentials are ignored',
    reference: 'specification 2.4',
    run: async (context) => {
      const answer = await context.logIn({ ...context.credentials, id: null, scope: ['x'], expiresIn: 1e9 });
      expectOutcome(answer, outcomes.tokenGenerated);
    },
  },
  {
    name: 'A login needs no token: a wrong one in Authorization does not matter',
    reference: 'specification 4.1',
    run: async (context) => {
      const answer = await context.logIn(context.credentials, { Authorization: 'Bearer nonsense' });
      expectOutcome(answer, outcomes.tokenGenerated);
    },
  },
  {
    name: 'A login without a Content-Type gets a token',
    reference: 'specification 2.1',
    run: async (context) => {
      expectOutcome(await context.logIn(context.credentials, {}), outcomes.tokenGenerated);
    },
  },
  {
    name: 'A login as application/x-www-form-urlencoded gets a token when it is JSON',
    reference: 'specification 2.1',
    run: async (context) => {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      expectOutcome(await context.logIn(context.credentials, headers), outcomes.tokenGenerated);
    },
  },
  ...unreadableBodies.map(
    ([situation, makeBody]): CaseDefinition => ({
      name: `A login with ${situation} is an invalid request payload`,
      reference: 'specification 5.1, 2.2, 2.3',
      run: async (context) => {
        expectAnswer(await context.logIn(makeBody(context.credentials)), outcomes.invalidRequestPayload);
      },
    }),
  ),
  ...wrongCredentials.map(
    ([situation, makeBody]): CaseDefinition => ({
      name: `A login with ${situation} has invalid credentials`,
      reference: 'specification 5.2, 5.3',
      run: async (context) => {
        expectAnswer(await context.logIn(makeBody(context.credentials)), outcomes.invalidCredentials);
      },
    }),
  ),
]);

function readPart(part: string, token: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    throw new ExpectationError('a part of the token', 'JSON in base64url', token);
  }
}

/** A text without letters has no other case and gets longer instead. */
function swapCase(text: string): string {
  const upper = text.toUpperCase();
  if (upper !== text) return upper;
  const lower = text.toLowerCase();
  return lower === text ? `${text}x` : lower;
}
