import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Test } from '../case.ts';
import type { Catalog } from '../catalog.ts';
import { requestEach } from '../contract/description.ts';
import { expectFailure } from '../expect.ts';
import { encodeJson, forgeToken, splitToken, type TokenParts } from '../forge-token.ts';
import { type Outcome, outcomes } from '../outcomes.ts';

/** A year ahead, beyond any difference between clocks. */
const exp = Math.floor(Date.now() / 1000) + 366 * 24 * 60 * 60;
const foreign = { claims: { exp }, secret: 'not the secret' };

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' });
const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();

const refusedHeaders: readonly (readonly [string, (token: string) => Record<string, string>, Outcome])[] = [
  ['no Authorization header', () => ({}), outcomes.tokenRequired],
  ['an altered token', (token) => ({ Authorization: alterSignature(token) }), outcomes.invalidToken],
  ['an empty Authorization header', () => ({ Authorization: '' }), outcomes.tokenRequired],
  ['an Authorization header of spaces', () => ({ Authorization: '   ' }), outcomes.tokenRequired],
  ['a token in Proxy-Authorization', (token) => ({ 'Proxy-Authorization': token }), outcomes.tokenRequired],
  ['a token in X-Authorization', (token) => ({ 'X-Authorization': token }), outcomes.tokenRequired],
  ['a token in a cookie', (token) => ({ Cookie: `Authorization=${token}` }), outcomes.tokenRequired],
];

/** Bodies and headers that are refused when the token is valid. */
const invalidBodies = ['', '{', '{"year":"x"}', '[]', JSON.stringify({ title: 'x'.repeat(500 * 1024) })];
const invalidHeaders = { 'If-Match': '"x"', 'If-None-Match': '*', 'Idempotency-Key': '' };

/** One of each kind of forgery that a mistake of the service could accept. jose has tests of its own. */
const invalidTokens: readonly (readonly [string, (token: string) => string])[] = [
  ['the scheme Bearer before the token', (token) => `Bearer ${token}`],
  ['credentials of the scheme Basic', () => `Basic ${Buffer.from('admin:password').toString('base64')}`],
  ['one word', () => 'garbage'],
  ['two dots', () => '..'],
  ['a token in double quotes', (token) => `"${token}"`],
  ['a token twice, with a comma', (token) => `${token}, ${token}`],
  ['a token with a fourth part', (token) => `${token}.e30`],
  ['a token without its signature', (token) => token.slice(0, token.lastIndexOf('.'))],
  ['a token with an empty signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)],
  ['a signature cut by two characters', (token) => token.slice(0, -2)],
  ['another spelling of its signature', respellSignature],
  ['the signature of another secret', () => forgeToken(foreign)],
  ['the signature of an empty secret', () => forgeToken({ ...foreign, secret: '' })],
  ['the signature of the secret "undefined"', () => forgeToken({ ...foreign, secret: 'undefined' })],
  ['a public key of its own in its header', signWithOwnKey],
  ['a public key of its own as the secret', () => forgeWith({ jwk }, pem)],
  ['the address of its keys in its header', () => forgeWith({ jku: 'http://127.0.0.1:9/keys.json' })],
  ['a payload changed under its signature', (token) => replacePart(token, 'payload', { exp })],
  ['a header changed under its signature', (token) => replacePart(token, 'header', { alg: 'HS384' })],
  ['a JSON serialization of the token', serializeToken],
];

/** Seconds beyond any difference between two clocks. */
const farSeconds = 60 * 60;

/** A token with the right secret; a function of the service's time in seconds and the secret. */
type SignedToken = Partial<TokenParts> | ((now: number, secret: string) => Partial<TokenParts>);

type SignedTokenCase = readonly [rule: string, situation: string, token: SignedToken];

const acceptedTokens: readonly SignedTokenCase[] = [
  ['4.5', 'HS384', { header: { alg: 'HS384', typ: 'JWT' }, claims: { exp } }],
  ['4.5', 'HS512', { header: { alg: 'HS512', typ: 'JWT' }, claims: { exp } }],
  ['4.7', 'no exp', { claims: {} }],
  ['4.8', 'more claims than exp', (now) => ({ claims: { exp, sub: 'x', role: 'none', iat: now } })],
  ['4.6', 'an nbf that has passed', (now) => ({ claims: { exp, nbf: now - farSeconds } })],
];

const refusedTokens: readonly SignedTokenCase[] = [
  ['4.6', 'an exp of a second ago', (now) => ({ claims: { exp: now - 1 } })],
  ['4.6', 'HS512 and a past exp', (now) => ({ header: { alg: 'HS512' }, claims: { exp: now - 1 } })],
  ['4.6', 'the exp 0', { claims: { exp: 0 } }],
  ['4.6', 'a string as exp', { claims: { exp: String(exp) } }],
  ['4.6', 'a future nbf', (now) => ({ claims: { exp, nbf: now + farSeconds } })],
  ['4.6', 'a string as nbf', (now) => ({ claims: { exp, nbf: String(now - farSeconds) } })],
  ['4.5', 'the method "none" and an HMAC', { header: { alg: 'none' }, claims: { exp } }],
  ['4.5', 'the method "RS256" and an HMAC', { header: { alg: 'RS256' }, claims: { exp } }],
  ['4.5', 'an unknown critical header', { header: { alg: 'HS256', crit: ['x'], x: 1 }, claims: { exp } }],
  ['4.5', 'a payload that is not JSON', { payload: '{' }],
  ['4.5', 'a payload that is not an object', { payload: '[]' }],
  ['4.5', 'a part of the secret', (_now, secret) => ({ claims: { exp }, secret: secret.slice(0, -1) })],
];

/** Who may use an endpoint. */
export default function addCases(test: Test): void {
  // With an id that no book has and an invalid body, an endpoint that is public by mistake changes nothing.
  for (const { route, isPublic, request } of requestEach(Number.MAX_SAFE_INTEGER, '{')) {
    test('4.1', `${route} ${isPublic ? 'is public' : 'requires a token'}`, async (catalog) => {
      const { status, body } = await catalog.send(request);
      const isRefused = body.includes(outcomes.tokenRequired.message);
      const problem = isPublic
        ? `requires a token, and openapi.yaml lists it as public (security: [])`
        : `answers ${status} without a token; list it as public in openapi.yaml (security: []) if that is meant, or use protectedEndpoint`;
      assert.equal(isRefused, !isPublic, `${route} ${problem}`);
    });
  }

  for (const [situation, makeHeaders, outcome] of refusedHeaders) {
    const name = `With ${situation}, no protected endpoint does anything, nor reports anything else`;
    test('4.1, 4.2, 4.3, 11.9, 12.4', name, async (catalog) => {
      const author = `refused ${crypto.randomUUID()}`;
      const book = await catalog.findSharedBook();
      const headers = makeHeaders(await catalog.session.token());
      for (const request of protectedRequests(book.id, JSON.stringify({ author }))) {
        expectFailure(await catalog.send({ ...request, headers }), outcome);
      }
      const list = { method: 'GET', path: '/books?limit=0' };
      const requests = invalidBodies.flatMap((body) => [list, ...protectedRequests('abc', body)]);
      for (const request of [...requests, ...protectedRequests(Number.MAX_SAFE_INTEGER, '{}')]) {
        expectFailure(await catalog.send({ ...request, headers: { ...invalidHeaders, ...headers } }), outcome);
      }
      await catalog.expectStored(book);
      await catalog.expectListed(author, []);
    });
  }

  test('4.3', 'A token in the query is no token', async (catalog) => {
    const token = await catalog.session.token();
    const path = `/book/1?Authorization=${token}&authorization=${token}&token=${token}&access_token=${token}`;
    expectFailure(await catalog.send({ method: 'GET', path }), outcomes.tokenRequired);
  });

  for (const [situation, makeToken] of invalidTokens) {
    test('4.4, 4.5, 4.9', `An Authorization of ${situation} is an invalid token`, async (catalog) => {
      await expectInvalid(catalog, makeToken(await catalog.session.token()));
    });
  }

  for (const alg of ['none', 'RS256', 'hs256', undefined]) {
    test('4.5', `A token of the method "${alg}" is invalid, whatever its signature`, async (catalog) => {
      const token = await catalog.session.token();
      const unsigned = `${encodeJson({ alg })}.${splitToken(token).payload}`;
      const forged = forgeToken({ ...foreign, header: { alg } });
      for (const Authorization of [forged, replacePart(token, 'header', { alg }), `${unsigned}.`, unsigned]) {
        await expectInvalid(catalog, Authorization);
      }
    });
  }

  for (const [cases, verdict] of [
    [acceptedTokens, 'accepted'],
    [refusedTokens, 'invalid'],
  ] as const) {
    for (const [rule, situation, token] of cases) {
      test(rule, `A signed token with ${situation} is ${verdict}`, { needsSecret: true }, async (catalog) => {
        const { secret = '' } = catalog.session.options;
        // The service's clock decides: the second that its response names has begun there.
        const { date = '' } = (await catalog.send({ method: 'GET', path: '/books' })).headers;
        const now = Math.floor((Date.parse(date) || Date.now()) / 1000);
        const parts = typeof token === 'function' ? token(now, secret) : token;
        const Authorization = forgeToken({ secret, ...parts });
        if (verdict === 'invalid') await expectInvalid(catalog, Authorization);
        else await expectValid(catalog, Authorization);
      });
    }
  }
}

/** Checks that each endpoint refuses a token, because each may be a function with a configuration of its own. */
async function expectInvalid(catalog: Catalog, Authorization: string): Promise<void> {
  for (const request of protectedRequests(Number.MAX_SAFE_INTEGER, '{')) {
    expectFailure(await catalog.send({ ...request, headers: { Authorization } }), outcomes.invalidToken);
  }
}

/** Checks that each endpoint accepts a token. A list may be long, and its status is enough. */
async function expectValid(catalog: Catalog, Authorization: string): Promise<void> {
  for (const request of protectedRequests(Number.MAX_SAFE_INTEGER, '{')) {
    const { status } = await catalog.send({ ...request, headers: { Authorization }, maxResponseBytes: 1 });
    assert.notEqual(status, 401, `the status of ${request.method} ${request.path}`);
  }
}

/** One request to each endpoint that needs a token. */
function protectedRequests(id: number | string, body: string) {
  return requestEach(id, body).flatMap(({ isPublic, request }) => (isPublic ? [] : request));
}

const encode = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64url');

/** Names a key in the header, which a service must not follow. */
function forgeWith(keyName: object, secret = foreign.secret): string {
  return forgeToken({ ...foreign, header: { alg: 'HS256', ...keyName }, secret });
}

function signWithOwnKey(): string {
  const input = `${encodeJson({ alg: 'ES256', jwk })}.${encodeJson(foreign.claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${encode(signature)}`;
}

function replacePart(token: string, part: 'header' | 'payload', value: object): string {
  return token.replace(splitToken(token)[part], encodeJson(value));
}

function serializeToken(token: string): string {
  const { header, ...rest } = splitToken(token);
  return JSON.stringify({ protected: header, ...rest });
}

/** Sets one of the two bits of the last character that have no meaning. */
function respellSignature(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) + 1];
}

/** Changes the first character, because two bits of the last one have no meaning. */
function alterSignature(token: string): string {
  return token.replace(/\.([^.])([^.]*)$/, (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`);
}
