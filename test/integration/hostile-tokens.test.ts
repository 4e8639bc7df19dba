import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { emma, listBooks } from '../support/book-table.ts';
import { useService } from '../support/fixtures.ts';
import { encodeJson, forgeToken } from '../support/forge-token.ts';
import { settings } from '../support/load-handlers.ts';

const secret = settings.SECRET_TOKEN;
const routes = ['POST /book', 'GET /books', 'GET /book/1', 'PUT /book/1', 'DELETE /book/1'];
const invalidToken = {
  status: 401,
  headers: { 'Content-Type': 'application/json' },
  envelope: { status: 401, message: 'Invalid token', data: null },
};

const service = useService();

const sendToken = (token: string, route = 'GET /books') => {
  const [method = '', path = ''] = route.split(' ');
  return service.call(method, path, { headers: { Authorization: token }, body: '{"title":"changed"}' });
};

const hmacWith = (key: string | Buffer) => (input: string) =>
  createHmac('sha256', key).update(input).digest('base64url');

/** A token of the right secret over texts that JSON.stringify would not write. */
function signText(payload: string, header = '{"alg":"HS256"}'): string {
  const signingInput = [header, payload].map((part) => Buffer.from(part).toString('base64url')).join('.');
  return `${signingInput}.${hmacWith(secret)(signingInput)}`;
}

describe('a stranger, who has keys of their own but not the secret', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ed = generateKeyPairSync('ed25519');
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

  /** Signs as the method that a header names is signed. */
  const asymmetric: Readonly<Record<string, (input: string) => Buffer>> = {
    RS256: (input) => sign('sha256', Buffer.from(input), rsa.privateKey),
    PS256: (input) => sign('sha256', Buffer.from(input), { key: rsa.privateKey, ...pss }),
    ES256: (input) => sign('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
    EdDSA: (input) => sign(null, Buffer.from(input), ed.privateKey),
  };
  const jwks = [rsa, ec, ed].map(({ publicKey }) => publicKey.export({ format: 'jwk' }));

  /** What a verifier that mixes up methods or follows the header would take for the HMAC secret. */
  const guessableSecrets = [
    ...['', 'secret', 'null', 'undefined', '[object CryptoKey]', '../../dev/null'],
    ...[rsa, ec, ed].flatMap(({ publicKey }) => encodings(publicKey)),
  ];

  const header = fc.record(
    {
      alg: fc.oneof(
        { arbitrary: fc.constantFrom('HS256', 'HS384', 'HS512'), weight: 3 },
        { arbitrary: fc.mixedCase(fc.constantFrom('none', 'hs256', 'rs256')), weight: 2 },
        { arbitrary: fc.constantFrom(...Object.keys(asymmetric)), weight: 3 },
        { arbitrary: fc.jsonValue(), weight: 1 },
      ),
      typ: fc.constantFrom('JWT', 'at+jwt', '', null),
      cty: fc.constantFrom('JWT', ''),
      kid: fc.oneof(fc.constantFrom('../../dev/null', "' OR 1=1 --", '__proto__', '|ls'), fc.string()),
      jku: fc.constant('http://127.0.0.1:9/keys.json'),
      x5u: fc.constant('http://127.0.0.1:9/certificate.pem'),
      jwk: fc.constantFrom({ kty: 'oct', k: '' }, ...jwks),
      x5c: fc.constant([rsa.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')]),
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
    fc.constantFrom(...guessableSecrets).map(hmacWith),
    // The method that the header names, wherever there is one.
    fc.constant((input: string, alg: unknown) => {
      const method = typeof alg === 'string' && Object.hasOwn(asymmetric, alg) ? alg : 'RS256';
      return asymmetric[method]?.(input).toString('base64url') ?? '';
    }),
  );

  test('gets in nowhere, whatever the header says and however the token is signed', async () => {
    const { id } = await service.table.repository.create(emma);
    const token = fc.tuple(header, claims, signature).map(([head, payload, makeSignature]) => {
      const signingInput = `${encodeJson(head)}.${encodeJson(payload)}`;
      return `${signingInput}.${makeSignature(signingInput, head.alg)}`;
    });

    await fc.assert(
      fc.asyncProperty(token, fc.constantFrom(...routes), async (forged, route) => {
        expect(await sendToken(forged, route)).toEqual(invalidToken);
      }),
      { numRuns: 1000 },
    );

    expect(await listBooks(service.table)).toEqual([{ id, ...emma }]);
  });

  test('gets in nowhere with a token of megabytes, or of a million dots', async () => {
    const half = 'A'.repeat(3 * 1024 * 1024);
    for (const token of [
      half,
      `${half}.${half}.${half}`,
      '.'.repeat(1_000_000),
      `${encodeJson({ alg: half })}.e30.AA`,
    ]) {
      expect(await sendToken(token)).toEqual(invalidToken);
    }
  });
});

describe('someone who knows the secret', () => {
  test('can say in no header where a key is to be fetched from', async () => {
    const onRequest = vi.fn();
    const keyServer = createServer(onRequest).listen(0, '127.0.0.1');
    await once(keyServer, 'listening');
    const url = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/keys.json`;

    for (const alg of ['HS256', 'RS256', 'none']) {
      const header = { alg, kid: '1', jku: url, x5u: url };
      expect((await sendToken(forgeToken({ header, secret }))).status).toBe(alg === 'HS256' ? 200 : 401);
    }

    expect(onRequest).not.toHaveBeenCalled();
    keyServer.close();
  });

  test('is let in exactly while exp, read as a JSON number, lies ahead', async () => {
    const now = 1_800_000_000;
    vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
    const literal = fc.oneof(
      fc.constantFrom('1e400', '-1e400', '-0', '0.5', '1e-400', '1.8e9', '1800000001.5', '9007199254740993'),
      fc.constantFrom('"1800000900"', 'null', 'true', '[1800000900]', '{}', '""', '"1e400"'),
      fc.integer({ min: now - 1000, max: now + 1000 }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    );
    await fc.assert(
      fc.asyncProperty(literal, async (exp) => {
        const value: unknown = JSON.parse(exp);
        const valid = typeof value === 'number' && value > now;
        expect((await sendToken(signText(`{"exp":${exp}}`))).status).toBe(valid ? 200 : 401);
      }),
      { numRuns: 200 },
    );
    vi.useRealTimers();
  });

  // RFC 7519 section 4 and RFC 7515 section 4: of two members of a name the last one counts.
  test.each([
    ['{"exp":4102444800,"exp":1}', 401],
    ['{"exp":1,"exp":4102444800}', 200],
    ['{"\\u0065xp":1}', 401],
    ['{"EXP":1}', 200],
    ['{"__proto__":{"exp":1}}', 200],
    ['{}', 401, '{"alg":"HS256","alg":"none"}'],
    ['{}', 200, '{"alg":"none","alg":"HS256"}'],
    ['{}', 401, '{"__proto__":{"alg":"HS256"}}'],
    [`{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 200],
  ])('the claims %s get a %i (%s)', async (payload, status, header?: string) => {
    expect((await sendToken(signText(payload, header))).status).toBe(status);
  });
});

/** A public key in the forms in which it may lie on a server's disk. */
function encodings(key: KeyObject): (string | Buffer)[] {
  const pem = key.export({ format: 'pem', type: 'spki' }).toString();
  const jwk = JSON.stringify(key.export({ format: 'jwk' }));
  return [pem, pem.trimEnd(), key.export({ format: 'der', type: 'spki' }), jwk];
}
