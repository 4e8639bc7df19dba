import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTokenSigner, createTokenVerifier } from '../../../../lib/auth/token.ts';
import { HttpError, outcomes } from '../../../../lib/http/outcomes.ts';
import { anyText } from '../../../support/any-text.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { decodeToken, encodeJson, forgeToken } from '../../../support/forge-token.ts';

const secret = 'a secret that is longer than 32 bytes';
const now = 1_800_000_000;
const verify = createTokenVerifier(secret);
const signToken = createTokenSigner(secret);

beforeEach(() => {
  vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function expectInvalid(token: string): Promise<void> {
  const error: unknown = await verify(token).catch((reason: unknown) => reason);
  expect(error, token).toBeInstanceOf(HttpError);
  expect((error as HttpError).outcome).toBe(outcomes.invalidToken);
}

/** Signs what JSON.stringify would not write. */
const signText = (signingInput: string) =>
  `${signingInput}.${createHmac('sha256', secret).update(signingInput).digest('base64url')}`;

describe('createTokenSigner', () => {
  test('each token is HS256 and its one claim is exp, 900 seconds after the second it was issued in', async () => {
    for (const seconds of [0, 60]) {
      vi.setSystemTime((now + seconds) * 1000 + 999);
      const expected = { header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + seconds + 900 } };
      expect(decodeToken(await signToken())).toEqual(expected);
    }
  });

  test('the signature is that of RFC 7515, with the secret as UTF-8 bytes', async () => {
    const text = 'zażółć gęślą jaźń zażółć gęślą jaźń';
    const token = await createTokenSigner(text)();

    expect(token).toBe(forgeToken({ ...(decodeToken(token) as { header: object }), secret: text }));
  });

  // The last two are 30 and 32 bytes long.
  test.each([
    ['x'.repeat(31), 1],
    ['x'.repeat(32), 0],
    ['ż'.repeat(15), 1],
    ['ż'.repeat(16), 0],
  ])('the secret %j gives %i warnings, without the secret', async (weakSecret, count) => {
    const log = captureLog();

    const sign = createTokenSigner(weakSecret);
    await Promise.all([sign(), sign()]);

    expect(log.lines.map(({ level }) => level)).toEqual(Array(count).fill('WARN'));
    expect(log.text).not.toContain(weakSecret);
  });

  test('an empty secret is a fault of ours: it cannot sign, and no token is called invalid', async () => {
    captureLog();

    await expect(createTokenSigner('')()).rejects.toMatchObject({
      outcome: outcomes.tokenNotGenerated,
      cause: expect.any(Error),
    });
    await expect(createTokenVerifier('')(forgeToken({ secret: '' }))).rejects.not.toBeInstanceOf(HttpError);
  });
});

describe('createTokenVerifier', () => {
  test('a token is accepted again and again until its expiry, and refused from then on', async () => {
    const token = await signToken();
    for (const milliseconds of [0, 0, 899_999]) {
      vi.setSystemTime(now * 1000 + milliseconds);
      await verify(token);
    }
    vi.setSystemTime((now + 900) * 1000);
    await expectInvalid(token);
    await expectInvalid(forgeToken({ claims: { exp: now + 900 }, secret }));
  });

  test('however many tokens were seen before, each is accepted until it expires and refused then', async () => {
    const tokens = Array.from({ length: 250 }, (_, index) =>
      forgeToken({ secret, claims: { exp: now + 10 + index } }),
    );
    for (const token of [...tokens, ...tokens]) await verify(token);
    vi.setSystemTime((now + 135) * 1000);

    for (const token of tokens.slice(0, 126)) await expectInvalid(token);
    for (const token of tokens.slice(126)) await verify(token);
  });

  test('a token that was verified is not verified again; the 101st makes it forgotten', async () => {
    const check = vi.spyOn(crypto.subtle, 'verify');
    const fresh = createTokenVerifier(secret);
    const tokens = Array.from({ length: 101 }, (_, kid) =>
      forgeToken({ header: { alg: 'HS256', kid }, secret }),
    );

    for (const token of tokens.slice(0, 100)) await fresh(token);
    for (const token of tokens.slice(0, 100)) await fresh(token);
    expect(check).toHaveBeenCalledTimes(100);
    await fresh(tokens[100] as string);
    await fresh(tokens[0] as string);
    expect(check).toHaveBeenCalledTimes(102);
  });

  test('nbf refuses a token until its second has come', async () => {
    const token = forgeToken({ claims: { nbf: now + 1 }, secret });

    await expectInvalid(token);
    vi.setSystemTime((now + 1) * 1000);
    await verify(token);
  });

  test.each(['HS256', 'HS384', 'HS512'])('%s is an HMAC method, whose key serves no other', async (alg) => {
    await verify(forgeToken({ header: { alg }, claims: { exp: now + 1 }, secret }));
    await verify(forgeToken({ claims: { exp: now + 1 }, secret }));
  });

  test.each([
    ...['', null, ['HS256'], 'none', 'hs256', 'HS2560', 'RS256', '__proto__'].map((alg) => ({ alg })),
    {},
    { typ: 'JWT' },
  ])('the header %j names no HMAC method: refused with our signature and without', async (header) => {
    const token = forgeToken({ header, secret, hmac: 'HS256' });

    await expectInvalid(token);
    await expectInvalid(token.replace(/[^.]*$/, ''));
  });

  test.each([
    `${encodeJson({ alg: 'HS256', crit: ['b64'], b64: false })}.{}`,
    `${encodeJson({ alg: 'HS256' })}.${Buffer.from('{"exp"').toString('base64url')}`,
    ...['=', ' ', '\n'].map((more) => `${encodeJson({ alg: 'HS256' })}.${encodeJson({})}${more}`),
  ])('%j is refused, although it is signed', async (signingInput) => {
    await expectInvalid(signText(signingInput));
  });

  // RFC 7515 section 2: base64url without padding, line breaks, whitespace or any other character.
  test.each<[string, (token: string) => string]>([
    ['a scheme before it', (token) => `Bearer ${token}`],
    ['a space before it', (token) => ` ${token}`],
    ['a fourth part', (token) => `${token}.`],
    ['itself behind it', (token) => `${token},${token}`],
    ['a signature cut short', (token) => token.slice(0, -2)],
    ['more bytes of signature', (token) => `${token}AAAA`],
    ['padding', (token) => `${token}=`],
    ['a space after it', (token) => `${token} `],
    ['a line feed after it', (token) => `${token}\n`],
    ['a space in its signature', (token) => `${token.slice(0, -9)} ${token.slice(-9)}`],
    ['a line feed in its signature', (token) => `${token.slice(0, -9)}\n${token.slice(-9)}`],
    ['a tab before its signature', (token) => token.replace(/\.(?=[^.]*$)/, '.\t')],
  ])('a valid token with %s is refused', async (_name, alter) => {
    await expectInvalid(alter(await signToken()));
  });

  test('a valid token with any one character changed is refused', async () => {
    const token = forgeToken({ header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + 900 }, secret });
    const signatureOf = (text: string) => Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url');
    const replacement = fc.oneof(
      fc.constantFrom('A', 'z', '_', '=', '.'),
      anyText.map((text) => text[0] ?? '_'),
    );

    await fc.assert(
      fc.asyncProperty(fc.nat({ max: token.length - 1 }), replacement, async (position, character) => {
        const changed = token.slice(0, position) + character + token.slice(position + 1);
        // The last character of 32 bytes in base64url has two bits that stand for nothing: the same signature.
        const last = position === token.length - 1 && /[\w-]/.test(character);
        fc.pre(changed !== token && !(last && signatureOf(changed).equals(signatureOf(token))));

        await expectInvalid(changed);
      }),
      { numRuns: 300 },
    );
  });

  test('any text at all is refused as a token and never taken for a fault of ours', async () => {
    const part = fc.oneof(
      anyText,
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
      fc.constantFrom(encodeJson({ alg: 'HS256' }), encodeJson({ alg: 'none' })),
    );
    const almostToken = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));

    await fc.assert(fc.asyncProperty(almostToken, expectInvalid), { numRuns: 300 });
  });
});
