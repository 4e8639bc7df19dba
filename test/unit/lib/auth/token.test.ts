import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { encodeJson, forgeToken, signInput } from '../../../../conformance/forge-token.ts';
import { InvalidTokenError, TokenNotSignedError } from '../../../../lib/auth/errors.ts';
import { createTokenSigner, createTokenVerifier } from '../../../../lib/auth/token.ts';
import { anyText } from '../../../support/any-text.ts';

const secret = 'a secret that is longer than 32 bytes';
const now = 1_800_000_000;
const verify = createTokenVerifier(secret);

beforeEach(() => {
  vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

async function expectInvalid(token: string): Promise<void> {
  await expect(verify(token), token).rejects.toThrow(InvalidTokenError);
}

test('a token is HS256, keyed with UTF-8 bytes, and its one claim is exp, its lifetime after its second (rule 5.5)', async () => {
  const text = 'zażółć gęślą jaźń zażółć gęślą jaźń';
  vi.setSystemTime(now * 1000 + 999);

  const token = await createTokenSigner(text, 60)();

  const [header = '', claims = '', signature] = token.split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  expect(decode(header)).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(decode(claims)).toEqual({ exp: now + 60 });
  expect(signature, 'the signature').toBe(signInput(`${header}.${claims}`, text));
});

test('an empty secret is a fault of ours: it cannot sign, and no token is called invalid', async () => {
  const signed = createTokenSigner('', 60)();
  await expect(signed).rejects.toThrow(TokenNotSignedError);
  await expect(signed).rejects.toHaveProperty('cause.name', 'DataError');
  const verified = createTokenVerifier('')(forgeToken({ secret: '' }));
  await expect(verified).rejects.not.toBeInstanceOf(InvalidTokenError);
});

test('however many tokens were seen before, each is valid until its exp and from its nbf', async () => {
  const tokens = Array.from({ length: 250 }, (_, index) => forgeToken({ secret, claims: { exp: now + 10 + index } }));
  for (const token of [...tokens, ...tokens]) await verify(token);
  const notYetValid = forgeToken({ claims: { nbf: now + 135 }, secret });
  vi.setSystemTime((now + 135) * 1000 - 1);
  await verify(tokens[125] as string);
  await expectInvalid(notYetValid);
  vi.setSystemTime((now + 135) * 1000);
  await verify(notYetValid);

  for (const token of tokens.slice(0, 126)) await expectInvalid(token);
  for (const token of tokens.slice(126)) await verify(token);
  await expectInvalid(forgeToken({ claims: { exp: now + 135 }, secret }));
});

test('a token that was verified is not verified again; the 101st makes it forgotten', async () => {
  const check = vi.spyOn(crypto.subtle, 'verify');
  const fresh = createTokenVerifier(secret);
  const tokens = Array.from({ length: 101 }, (_, kid) => {
    // Half of them expire.
    return forgeToken({ header: { alg: 'HS256', kid }, claims: kid % 2 === 0 ? {} : { exp: now + 900 }, secret });
  });
  const hundred = tokens.slice(0, 100);

  for (const token of [...hundred, ...hundred]) await fresh(token);
  expect(check).toHaveBeenCalledTimes(100);
  for (const token of tokens.slice(-1).concat(hundred.slice(0, 1))) await fresh(token);
  expect(check).toHaveBeenCalledTimes(102);
});

// RFC 7515 section 2: base64url without padding, line breaks, whitespace or any other character.
const characters = ['A', '=', '.', ' ', '\n', '+', 'é', '\ud800'];
test.each(characters)('a valid token with %j anywhere in it is invalid', async (character) => {
  const token = forgeToken({ header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + 900 }, secret });

  for (let position = 0; position <= token.length; position += 1) {
    await expectInvalid(token.slice(0, position) + character + token.slice(position));
  }
});

test('any text is an invalid token and never taken for a fault of ours', async () => {
  const part = fc.oneof(
    anyText,
    fc.json().map((json) => Buffer.from(json).toString('base64url')),
    fc.constantFrom(encodeJson({ alg: 'HS256' }), encodeJson({ alg: 'none' })),
  );
  const almostToken = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));

  await fc.assert(fc.asyncProperty(almostToken, expectInvalid), { numRuns: 300 });
});
