import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTokenSigner, createTokenVerifier } from '../../../../lib/auth/token.ts';
import { HttpError, outcomes } from '../../../../lib/http/outcomes.ts';
import { anyText } from '../../../support/any-text.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { decodeToken, encodeJson, forgeToken } from '../../../support/forge-token.ts';

const secret = 'a secret that is longer than 32 bytes';
const now = 1_800_000_000;

beforeEach(() => {
  vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const verify = createTokenVerifier(secret);

async function expectInvalid(token: string): Promise<void> {
  const error = await verify(token).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, token).toBeInstanceOf(HttpError);
  expect((error as HttpError).outcome).toBe(outcomes.invalidToken);
}

describe('createTokenSigner', () => {
  test('a token is HS256 and its one claim is exp, 900 seconds after the second it was issued in', async () => {
    vi.setSystemTime(now * 1000 + 999);

    const token = await createTokenSigner(secret)();

    expect(decodeToken(token)).toEqual({ header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + 900 } });
  });

  test('the signature is that of RFC 7515, with the secret as UTF-8 bytes', async () => {
    const token = await createTokenSigner('zażółć gęślą jaźń zażółć gęślą jaźń')();

    const [header, payload, signature] = token.split('.');
    const expected = createHmac('sha256', Buffer.from('zażółć gęślą jaźń zażółć gęślą jaźń', 'utf8')).update(
      `${header}.${payload}`,
    );
    expect(signature).toBe(expected.digest('base64url'));
  });

  test('each token is issued anew', async () => {
    const signToken = createTokenSigner(secret);
    await signToken();
    vi.setSystemTime((now + 60) * 1000);

    expect(decodeToken(await signToken()).claims).toEqual({ exp: now + 960 });
  });

  test('an empty secret cannot sign: 500 with the cause', async () => {
    captureLog();
    const error = await createTokenSigner('')().catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).outcome).toBe(outcomes.tokenNotGenerated);
    expect((error as HttpError).cause).toBeInstanceOf(Error);
  });
});

describe('createTokenSigner at a secret that can be guessed', () => {
  test.each([
    ['x'.repeat(31), true],
    ['x'.repeat(32), false],
    // Two bytes a letter: 30 and 32.
    ['ż'.repeat(15), true],
    ['ż'.repeat(16), false],
  ])('the secret %j gives a warning: %s, once and without the secret', async (weakSecret, warns) => {
    const log = captureLog();

    const signToken = createTokenSigner(weakSecret);
    await signToken();
    await signToken();

    expect(log.lines.map(({ level }) => level)).toEqual(warns ? ['WARN'] : []);
    expect(log.text).not.toContain(weakSecret);
  });
});

describe('createTokenVerifier', () => {
  test('a token of the signer with the same secret is accepted, again and again', async () => {
    const token = await createTokenSigner(secret)();

    await expect(verify(token)).resolves.toBeUndefined();
    await expect(verify(token)).resolves.toBeUndefined();
  });

  test('a token of a signer with another secret is refused', async () => {
    await expectInvalid(await createTokenSigner(`${secret}!`)());
  });

  test('a token is accepted one second before its expiry and refused at it', async () => {
    const token = forgeToken({ claims: { exp: now }, secret });

    vi.setSystemTime((now - 1) * 1000 + 999);
    await expect(verify(token)).resolves.toBeUndefined();
    vi.setSystemTime(now * 1000);
    await expectInvalid(token);
  });

  test('a token that was valid is refused once it has expired, although it was seen before', async () => {
    const token = await createTokenSigner(secret)();
    await verify(token);

    vi.setSystemTime((now + 900) * 1000);

    await expectInvalid(token);
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

  test('a token without exp has no expiry and is accepted', async () => {
    await expect(verify(forgeToken({ claims: {}, secret }))).resolves.toBeUndefined();
  });

  test('nbf refuses a token until its second has come', async () => {
    const token = forgeToken({ claims: { nbf: now + 1 }, secret });

    await expectInvalid(token);
    vi.setSystemTime((now + 1) * 1000);
    await expect(verify(token)).resolves.toBeUndefined();
  });

  test.each([
    ['exp as a string', { exp: String(now + 900) }],
    ['exp as null', { exp: null }],
    ['exp as true', { exp: true }],
    ['exp as an array', { exp: [now + 900] }],
    ['exp of zero', { exp: 0 }],
    ['exp before 1970', { exp: -1 }],
    ['nbf as a string', { nbf: String(now) }],
    ['claims that are an array', []],
    ['claims that are null', null],
    ['claims that are a string', 'exp'],
  ])('%s is refused, although the signature is right', async (_name, claims) => {
    await expectInvalid(forgeToken({ claims, secret }));
  });

  test('claims that are no JSON are refused, although the signature is right', async () => {
    const signingInput = `${encodeJson({ alg: 'HS256' })}.${Buffer.from('{"exp"').toString('base64url')}`;
    const signature = createHmac('sha256', secret).update(signingInput).digest('base64url');

    await expectInvalid(`${signingInput}.${signature}`);
  });

  test.each(['HS256', 'HS384', 'HS512'])('%s is an HMAC method and accepted', async (alg) => {
    const token = forgeToken({ header: { alg }, claims: { exp: now + 1 }, secret });

    await expect(verify(token)).resolves.toBeUndefined();
    // The imported key of one method is not used for another.
    await expect(verify(forgeToken({ claims: { exp: now + 1 }, secret }))).resolves.toBeUndefined();
  });

  test.each([
    ['HS256', 'HS512'],
    ['HS512', 'HS256'],
    ['HS384', 'HS256'],
  ] as const)('a header that says %s over a signature of %s is refused', async (alg, hmac) => {
    await expectInvalid(forgeToken({ header: { alg }, secret, hmac }));
  });

  // "Algorithm confusion": whatever is not HS256, HS384 or HS512 to the letter, signed with our secret or not at all.
  describe.each([
    'none',
    'None',
    'NONE',
    'nOnE',
    ' none',
    'none ',
    'none\0',
    '',
    'hs256',
    'Hs256',
    'HS256 ',
    'HS1',
    'HS224',
    'HS2560',
    'RS256',
    'RS384',
    'RS512',
    'ES256',
    'ES384',
    'ES512',
    'ES256K',
    'PS256',
    'PS384',
    'PS512',
    'EdDSA',
    'Ed25519',
    'ML-DSA-44',
    'dir',
    'A256GCM',
    '__proto__',
    'constructor',
    'toString',
  ])('a header with alg %j', (alg) => {
    test('is refused with a signature of our secret', async () => {
      await expectInvalid(forgeToken({ header: { alg }, secret, hmac: 'HS256' }));
    });

    test('is refused without a signature', async () => {
      const [header, payload] = forgeToken({ header: { alg }, secret }).split('.');

      await expectInvalid(`${header}.${payload}.`);
    });
  });

  test.each([
    {},
    { alg: null },
    { alg: ['HS256'] },
    { alg: 256 },
    { alg: { toString: 'HS256' } },
    { typ: 'JWT' },
  ])('the header %j names no method and is refused', async (header) => {
    await expectInvalid(forgeToken({ header, secret, hmac: 'HS256' }));
  });

  test('an ES256 signature of someone’s own key, with the key in the header, is refused', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const header = { alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) };
    const signingInput = `${encodeJson(header)}.${encodeJson({})}`;
    const signature = sign('sha256', Buffer.from(signingInput), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    });

    await expectInvalid(`${signingInput}.${signature.toString('base64url')}`);
  });

  test.each([
    ['crit with an unknown extension', { alg: 'HS256', crit: ['exp2'], exp2: 1 }],
    ['crit without the parameter that it names', { alg: 'HS256', crit: ['exp'] }],
    ['an empty crit', { alg: 'HS256', crit: [] }],
    ['a crit that is no array', { alg: 'HS256', crit: 'b64', b64: true }],
    ['an unencoded payload', { alg: 'HS256', crit: ['b64'], b64: false }],
  ])('%s is refused, although the signature is right', async (_name, header) => {
    await expectInvalid(forgeToken({ header, secret }));
  });

  test('an unencoded payload, signed as RFC 7797 says, is refused', async () => {
    const header = encodeJson({ alg: 'HS256', crit: ['b64'], b64: false });
    const signature = createHmac('sha256', secret).update(`${header}.{}`).digest('base64url');

    await expectInvalid(`${header}.{}.${signature}`);
  });

  test.each([
    '',
    ' ',
    '.',
    '..',
    '...',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    'null',
    '{}',
    'Basic YWRtaW46cGFzc3dvcmQ=',
  ])('%j is no token and is refused', async (token) => {
    await expectInvalid(token);
  });

  test.each([
    ['a scheme before the token', (token: string) => `Bearer ${token}`],
    ['a lower-case scheme before the token', (token: string) => `bearer ${token}`],
    ['a space before the token', (token: string) => ` ${token}`],
    ['a fourth part', (token: string) => `${token}.`],
    ['the token twice', (token: string) => `${token},${token}`],
    ['no signature', (token: string) => token.slice(0, token.lastIndexOf('.') + 1)],
    ['a signature cut short', (token: string) => token.slice(0, -2)],
    ['a signature with more bytes', (token: string) => `${token}AAAA`],
  ])('%s is refused', async (_name, alter) => {
    await expectInvalid(alter(await createTokenSigner(secret)()));
  });

  // RFC 7515 section 2: base64url without padding, line breaks, whitespace or any other character.
  test.each([
    ['padding after it', (token: string) => `${token}=`],
    ['a space after it', (token: string) => `${token} `],
    ['a line feed after it', (token: string) => `${token}\n`],
    ['a space in its signature', (token: string) => `${token.slice(0, -9)} ${token.slice(-9)}`],
    ['a line feed in its signature', (token: string) => `${token.slice(0, -9)}\n${token.slice(-9)}`],
    ['a tab before its signature', (token: string) => token.replace(/\.(?=[^.]*$)/, '.\t')],
  ])('a valid token with %s is no token and is refused', async (_name, alter) => {
    await expectInvalid(alter(await createTokenSigner(secret)()));
  });

  test.each(['=', ' ', '\n'])(
    'a payload encoded with %j after it is refused, although it is signed',
    async (more) => {
      const signingInput = `${encodeJson({ alg: 'HS256' })}.${encodeJson({})}${more}`;
      const signature = createHmac('sha256', secret).update(signingInput).digest('base64url');

      await expectInvalid(`${signingInput}.${signature}`);
    },
  );

  test('a valid token with any one character changed is refused', async () => {
    const token = forgeToken({ header: { alg: 'HS256', typ: 'JWT' }, claims: { exp: now + 900 }, secret });
    const signatureOf = (text: string) => Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url');
    const change = fc.record({
      position: fc.nat({ max: token.length - 1 }),
      character: fc.oneof(fc.base64String({ minLength: 4, maxLength: 4 }), anyText),
    });

    await fc.assert(
      fc.asyncProperty(change, async ({ position, character }) => {
        const replacement = character[0] ?? '_';
        const changed = token.slice(0, position) + replacement + token.slice(position + 1);
        // The last character of 32 bytes in base64url has two bits that stand for nothing: the same signature.
        const sameSignature =
          position === token.length - 1 &&
          /[\w-]/.test(replacement) &&
          signatureOf(changed).equals(signatureOf(token));
        fc.pre(changed !== token && !sameSignature);

        await expectInvalid(changed);
      }),
      { numRuns: 500 },
    );
  });

  test('any other claims under the signature of a valid token are refused', async () => {
    const token = await createTokenSigner(secret)();
    const [header, payload, signature] = token.split('.');

    await fc.assert(
      fc.asyncProperty(fc.object(), async (claims) => {
        fc.pre(encodeJson(claims) !== payload);

        await expectInvalid(`${header}.${encodeJson(claims)}.${signature}`);
      }),
    );
  });

  test('any other header under the signature of a valid token is refused', async () => {
    const token = await createTokenSigner(secret)();
    const [header, payload, signature] = token.split('.');
    const anyHeader = fc.record(
      {
        alg: fc.oneof(fc.constantFrom('HS256', 'HS384', 'HS512', 'none'), fc.string()),
        typ: fc.string(),
        kid: fc.string(),
      },
      { requiredKeys: [] },
    );

    await fc.assert(
      fc.asyncProperty(anyHeader, async (other) => {
        fc.pre(encodeJson(other) !== header);

        await expectInvalid(`${encodeJson(other)}.${payload}.${signature}`);
      }),
    );
  });

  test('any text at all is refused as a token and never taken for a fault of ours', async () => {
    const part = fc.oneof(
      anyText,
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
      fc.constant(encodeJson({ alg: 'HS256' })),
      fc.constant(encodeJson({ alg: 'none' })),
    );
    const almostToken = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));

    await fc.assert(
      fc.asyncProperty(almostToken, async (token) => {
        await expectInvalid(token);
      }),
      { numRuns: 500 },
    );
  });

  test('an empty secret is a fault of ours and not passed off as an invalid token', async () => {
    const verifyWithout = createTokenVerifier('');

    const error = await verifyWithout(forgeToken({ secret: '' })).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(HttpError);
  });
});
