import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { anyText } from '../../../../conformance/any-text.ts';
import { encodeJson, forgeToken, signInput } from '../../../../conformance/forge-token.ts';
import { InvalidTokenError, TokenNotSignedError } from '../../../../lib/auth/errors.ts';
import { createTokenSigner, createTokenVerifier } from '../../../../lib/auth/token.ts';
import { close, listen } from '../../../../tools/runtime/loopback-server.ts';
import { captureLog } from '../../../support/captured-log.ts';

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

/** Signs what JSON.stringify would not write. */
const signText = (signingInput: string) => `${signingInput}.${signInput(signingInput, secret)}`;

const signJson = (claims: string, header = '{"alg":"HS256"}') =>
  signText([header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.'));

describe('createTokenSigner', () => {
  test('each token is HS256, keyed with UTF-8 bytes, and its one claim is exp, 900 s after its second', async () => {
    const text = 'zażółć gęślą jaźń zażółć gęślą jaźń';
    for (const seconds of [0, 60]) {
      vi.setSystemTime((now + seconds) * 1000 + 999);
      const expected = { header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + seconds + 900 } };
      expect(await createTokenSigner(text)()).toBe(forgeToken({ ...expected, secret: text }));
    }
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

    await expect(createTokenSigner('')()).rejects.toThrow(TokenNotSignedError);
    const verified = createTokenVerifier('')(forgeToken({ secret: '' }));
    await expect(verified).rejects.not.toBeInstanceOf(InvalidTokenError);
  });
});

describe('createTokenVerifier', () => {
  test('however many tokens were seen before, each is valid until its exp and from its nbf', async () => {
    const tokens = Array.from({ length: 250 }, (_, index) =>
      forgeToken({ secret, claims: { exp: now + 10 + index } }),
    );
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

  // RFC 7515 section 2: base64url without padding, line breaks, whitespace or any other character.
  const characters = ['A', 'z', '_', '=', '.', ' ', '\n', '\t', '\0', '+', '/', 'é', '\ud800'];
  test.each(characters)('a valid token with %j anywhere in it is refused', async (character) => {
    const token = forgeToken({ header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + 900 }, secret });
    const signatureOf = (text: string) => Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url');

    for (let position = 0; position <= token.length; position += 1) {
      await expectInvalid(token.slice(0, position) + character + token.slice(position));
      const changed = token.slice(0, position) + character + token.slice(position + 1);
      // The last character of 32 bytes in base64url has two bits that stand for nothing: the same signature.
      const last = position === token.length - 1 && /[\w-]/.test(character);
      if (changed === token || (last && signatureOf(changed).equals(signatureOf(token)))) continue;
      await expectInvalid(changed);
    }
  });

  test.each(['=', ' ', '\n'])('%j after the payload is refused, although it is signed', async (more) => {
    await expectInvalid(signText(`${encodeJson({ alg: 'HS256' })}.${encodeJson({})}${more}`));
  });

  test('any text of any length is refused as a token and never taken for a fault of ours', async () => {
    const part = fc.oneof(
      anyText,
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
      fc.constantFrom(encodeJson({ alg: 'HS256' }), encodeJson({ alg: 'none' })),
    );
    const almostToken = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));

    const half = 'A'.repeat(3 * 1024 * 1024);
    const method = `${encodeJson({ alg: half })}.e30.AA`;
    const large = [half, `${half}.${half}.${half}`, '.'.repeat(1_000_000), method];
    const examples = large.map((text): [string] => [text]);

    await fc.assert(fc.asyncProperty(almostToken, expectInvalid), { numRuns: 300, examples });
  });
});

describe('a stranger, who has a key of their own but not the secret', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = rsa.publicKey.export({ format: 'jwk' });
  const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const der = rsa.publicKey.export({ format: 'der', type: 'spki' });

  /** What a verifier that mixes up methods or follows the header would take for the HMAC secret. */
  const guessableSecrets = [
    ...['', 'secret', 'null', 'undefined', '[object CryptoKey]', '../../dev/null'],
    ...[pem, pem.trimEnd(), der, JSON.stringify(jwk)],
  ];

  const header = fc.record(
    {
      alg: fc.oneof(
        { arbitrary: fc.constantFrom('HS256', 'HS384', 'HS512'), weight: 3 },
        { arbitrary: fc.mixedCase(fc.constantFrom('none', 'hs256', 'rs256')), weight: 2 },
        { arbitrary: fc.constantFrom('RS256', 'PS256', 'ES256', 'EdDSA'), weight: 3 },
        { arbitrary: fc.jsonValue(), weight: 1 },
      ),
      typ: fc.constantFrom('JWT', 'at+jwt', '', null),
      cty: fc.constantFrom('JWT', ''),
      kid: fc.oneof(fc.constantFrom('../../dev/null', "' OR 1=1 --", '__proto__', '|ls'), fc.string()),
      jku: fc.constant('http://127.0.0.1:9/keys.json'),
      x5u: fc.constant('http://127.0.0.1:9/certificate.pem'),
      jwk: fc.constantFrom({ kty: 'oct', k: '' }, jwk),
      x5c: fc.constant([der.toString('base64')]),
      crit: fc.constantFrom(['b64'], ['kid'], [], ['alg'], 'b64'),
      b64: fc.constantFrom(true, false, 'false'),
      zip: fc.constant('DEF'),
      enc: fc.constant('A256GCM'),
    },
    { requiredKeys: ['alg'] },
  );
  const claims = fc.oneof(
    fc.constantFrom({}, { exp: 4_102_444_800 }, { exp: 1e300 }, { admin: true }, null),
    fc.jsonValue(),
  );
  const signature = fc.oneof(
    fc.constantFrom('', 'AA').map((text) => () => text),
    fc
      .constantFrom(...guessableSecrets)
      .map((key) => (input: string) => createHmac('sha256', key).update(input).digest('base64url')),
    // A verifier that follows the header would find the public key in it.
    fc.constant((input: string) => sign('sha256', Buffer.from(input), rsa.privateKey).toString('base64url')),
  );

  test('makes no valid token, whatever its header says and however it is signed', async () => {
    const token = fc.tuple(header, claims, signature).map(([head, payload, makeSignature]) => {
      const signingInput = `${encodeJson(head)}.${encodeJson(payload)}`;
      return `${signingInput}.${makeSignature(signingInput)}`;
    });

    await fc.assert(fc.asyncProperty(token, expectInvalid), { numRuns: 1000 });
  });
});

describe('a client that knows the secret', () => {
  test('makes the service fetch no key, wherever the header says it is', async () => {
    const onRequest = vi.fn();
    const keyServer = createServer(onRequest);
    const url = `http://127.0.0.1:${await listen(keyServer)}/keys.json`;
    const forge = (alg: string) => forgeToken({ header: { alg, kid: '1', jku: url, x5u: url }, secret });

    await verify(forge('HS256'));
    for (const alg of ['RS256', 'none']) await expectInvalid(forge(alg));

    expect(onRequest).not.toHaveBeenCalled();
    await close(keyServer);
  });

  test('is accepted exactly while exp, read as a JSON number, lies ahead', async () => {
    const literal = fc.oneof(
      fc.constantFrom('1e400', '-1e400', '-0', '0.5', '1e-400', '1.8e9', '1800000001.5', '9007199254740993'),
      fc.constantFrom('"1800000900"', 'null', 'true', '[1800000900]', '{}', '""', '"1e400"'),
      fc.integer({ min: now - 1000, max: now + 1000 }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    );
    await fc.assert(
      fc.asyncProperty(literal, async (exp) => {
        const value: unknown = JSON.parse(exp);
        const token = signJson(`{"exp":${exp}}`);
        if (typeof value === 'number' && value > now) await verify(token);
        else await expectInvalid(token);
      }),
      { numRuns: 200 },
    );
  });

  // RFC 7519 section 4 and RFC 7515 section 4: of two members of a name the last one counts.
  test.each([
    ['{"exp":4102444800,"exp":1}', 'invalid'],
    ['{"exp":1,"exp":4102444800}', 'valid'],
    ['{"\\u0065xp":1}', 'invalid'],
    ['{"EXP":1}', 'valid'],
    ['{"__proto__":{"exp":1}}', 'valid'],
    ['{}', 'invalid', '{"alg":"HS256","alg":"none"}'],
    ['{}', 'valid', '{"alg":"none","alg":"HS256"}'],
    ['{}', 'invalid', '{"__proto__":{"alg":"HS256"}}'],
    ...['', null, ['HS256'], 'HS2560', '__proto__'].map((alg) => ['{}', 'invalid', JSON.stringify({ alg })]),
    [`{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'valid'],
  ])('has with the claims %s a token that is %s (%s)', async (payload, verdict, header?: string) => {
    const token = signJson(payload, header);
    if (verdict === 'valid') await verify(token);
    else await expectInvalid(token);
  });
});
