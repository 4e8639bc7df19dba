import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { type BookTable, createBookTable, emma, listBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { encodeJson, forgeToken } from '../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

const secret = settings.SECRET_TOKEN;

const protectedRoutes = [
  ['POST', '/book'],
  ['GET', '/books'],
  ['GET', '/book/1'],
  ['PUT', '/book/1'],
  ['DELETE', '/book/1'],
] as const;

const invalidToken = {
  status: 401,
  headers: { 'Content-Type': 'application/json' },
  envelope: { status: 401, message: 'Invalid token', data: null },
};

let engine: Engine;
let table: BookTable;
let call: Call;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  captureLog();
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url);
  await table.repository.create(emma);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const sendToken = (token: string, [method, path]: (typeof protectedRoutes)[number]) =>
  call(method, path, { headers: { Authorization: token }, body: '{"title":"changed by a stranger"}' });

const get = (token: string) => sendToken(token, ['GET', '/book/1']);

describe('a stranger, who has keys of his own but not the secret', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ed = generateKeyPairSync('ed25519');
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

  /** Signs as the method that a header names is signed. */
  const asymmetric: Readonly<Record<string, (input: Buffer) => Buffer>> = {
    RS256: (input) => sign('sha256', input, rsa.privateKey),
    PS256: (input) => sign('sha256', input, { key: rsa.privateKey, ...pss }),
    ES256: (input) => sign('sha256', input, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
    EdDSA: (input) => sign(null, input, ed.privateKey),
  };

  /** What a verifier that mixes up methods or follows the header would take for the HMAC secret. */
  const guessableSecrets = [
    '',
    'secret',
    'null',
    'undefined',
    '[object CryptoKey]',
    '../../dev/null',
    ...[rsa, ec, ed].flatMap(({ publicKey }) => encodings(publicKey)),
  ];

  const header = fc.record(
    {
      alg: fc.oneof(
        { arbitrary: fc.constantFrom('HS256', 'HS384', 'HS512'), weight: 3 },
        { arbitrary: fc.mixedCase(fc.constantFrom('none', 'hs256', 'rs256')), weight: 2 },
        { arbitrary: fc.constantFrom(...Object.keys(asymmetric)), weight: 2 },
        { arbitrary: fc.jsonValue(), weight: 1 },
      ),
      typ: fc.constantFrom('JWT', 'at+jwt', '', null),
      cty: fc.constantFrom('JWT', ''),
      kid: fc.oneof(
        fc.constantFrom('../../dev/null', "' OR 1=1 --", '/proc/self/environ', '__proto__', '|ls'),
        fc.string(),
      ),
      jku: fc.constant('http://127.0.0.1:9/keys.json'),
      x5u: fc.constant('http://127.0.0.1:9/certificate.pem'),
      jwk: fc.constantFrom(
        { kty: 'oct', k: Buffer.from('secret').toString('base64url') },
        rsa.publicKey.export({ format: 'jwk' }),
        ec.publicKey.export({ format: 'jwk' }),
        ed.publicKey.export({ format: 'jwk' }),
      ),
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
    fc.constant((): string => ''),
    fc.constant((): string => 'AA'),
    fc.constantFrom(...guessableSecrets).map(hmacWith),
    fc.constantFrom(...Object.values(asymmetric)).map(
      (makeSignature) =>
        (input: string): string =>
          makeSignature(Buffer.from(input)).toString('base64url'),
    ),
    // The method that the header names, wherever there is one.
    fc.constant((input: string, alg: unknown): string => {
      const makeSignature = asymmetric[String(alg)];
      return makeSignature ? makeSignature(Buffer.from(input)).toString('base64url') : hmacWith('')(input);
    }),
  );

  const ownKeys = { RS256: rsa, PS256: rsa, ES256: ec, EdDSA: ed } as const;

  test.each(Object.entries(ownKeys))(
    'gets in nowhere by %s, with his key in the header',
    async (alg, keys) => {
      const jwk = keys.publicKey.export({ format: 'jwk' });
      const x5c = [keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')];
      const signingInput = `${encodeJson({ alg, jwk, x5c })}.${encodeJson({})}`;
      const token = `${signingInput}.${asymmetric[alg]?.(Buffer.from(signingInput)).toString('base64url')}`;

      for (const route of protectedRoutes) expect(await sendToken(token, route)).toEqual(invalidToken);
    },
  );

  test('gets in nowhere by HMAC with what is public, or empty, for a secret', async () => {
    for (const guess of guessableSecrets) {
      for (const header of [{ alg: 'HS256' }, { alg: 'HS256', jwk: { kty: 'oct', k: '' } }]) {
        const signingInput = `${encodeJson(header)}.${encodeJson({})}`;

        expect(await get(`${signingInput}.${hmacWith(guess)(signingInput)}`)).toEqual(invalidToken);
      }
    }
  });

  test('gets in nowhere, whatever the header says and however the token is signed', async () => {
    const token = fc.tuple(header, claims, signature).map(([head, payload, makeSignature]) => {
      const signingInput = `${encodeJson(head)}.${encodeJson(payload)}`;
      return `${signingInput}.${makeSignature(signingInput, head.alg)}`;
    });

    await fc.assert(
      fc.asyncProperty(token, fc.constantFrom(...protectedRoutes), async (forged, route) => {
        expect(await sendToken(forged, route)).toEqual(invalidToken);
      }),
      { numRuns: 2000 },
    );

    expect(await listBooks(table)).toEqual([{ id: 1, ...emma }]);
  });

  test('gets in nowhere with a token of megabytes, or of a million dots, and soon hears so', async () => {
    const half = 'A'.repeat(3 * 1024 * 1024);
    const long = [
      half,
      `${half}.${half}.${half}`,
      '.'.repeat(1_000_000),
      `${encodeJson({ alg: half })}.e30.AA`,
    ];

    for (const token of long) expect(await get(token)).toEqual(invalidToken);
  });
});

describe('someone who knows the secret', () => {
  test('can say in no header where a key is to be fetched from', async () => {
    let requests = 0;
    const keyServer = createServer((_request, response) => {
      requests += 1;
      response.end('{"keys":[]}');
    }).listen(0, '127.0.0.1');
    await once(keyServer, 'listening');
    const url = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/keys.json`;

    for (const alg of ['HS256', 'RS256', 'none']) {
      const header = { alg, kid: '1', jku: url, x5u: url };
      expect((await get(forgeToken({ header, secret }))).status).toBe(alg === 'HS256' ? 200 : 401);
    }

    expect(requests).toBe(0);
    await new Promise((resolve) => keyServer.close(resolve));
  });

  test('is let in exactly while exp, read as a JSON number, lies ahead', async () => {
    const now = 1_800_000_000;
    vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
    const literal = fc.oneof(
      fc.constantFrom('1e400', '-1e400', '-0', '0.5', '1e-400', '1.8e9', '1800000001.5', '9007199254740993'),
      fc.constantFrom('"1800000900"', 'null', 'true', '[1800000900]', '{}', '""', '"1e400"'),
      fc.integer({ min: now - 1000, max: now + 1000 }).map((value) => String(value)),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value)),
    );
    try {
      await fc.assert(
        fc.asyncProperty(literal, async (exp) => {
          const value: unknown = JSON.parse(exp);
          const valid = typeof value === 'number' && value > now;

          const { status } = await get(signText(`{"exp":${exp}}`));

          expect(status).toBe(valid ? 200 : 401);
        }),
        { numRuns: 500 },
      );
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['the last exp of two counts when it has passed', '{"exp":4102444800,"exp":1}', 401],
    ['the last exp of two counts when it lies ahead', '{"exp":1,"exp":4102444800}', 200],
    ['an exp in an escape is the same', '{"\\u0065xp":1}', 401],
    ['a name in other letters is another claim', '{"EXP":1}', 200],
    ['the prototype holds no claims', '{"__proto__":{"exp":1}}', 200],
    [
      '100,000 arrays within each other are a claim like any other',
      `{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
      200,
    ],
  ])('%s (RFC 7519 section 4)', async (_situation, payload, status) => {
    expect((await get(signText(payload))).status).toBe(status);
  });

  test('of two methods in a header the last one counts, and a prototype names none (RFC 7515 section 4)', async () => {
    const encoded = (text: string) => Buffer.from(text).toString('base64url');
    const sent = async (header: string) => {
      const signingInput = `${encoded(header)}.e30`;
      return (await get(`${signingInput}.${hmacWith(secret)(signingInput)}`)).status;
    };

    expect(await sent('{"alg":"HS256","alg":"none"}')).toBe(401);
    expect(await sent('{"alg":"none","alg":"HS256"}')).toBe(200);
    expect(await sent('{"__proto__":{"alg":"HS256"}}')).toBe(401);
  });
});

/** A public key in the forms in which it may lie on a server's disk. */
function encodings(key: KeyObject): (string | Buffer)[] {
  const pem = key.export({ format: 'pem', type: 'spki' }).toString();
  return [
    pem,
    pem.trimEnd(),
    key.export({ format: 'der', type: 'spki' }),
    JSON.stringify(key.export({ format: 'jwk' })),
  ];
}

function hmacWith(key: string | Buffer): (input: string) => string {
  return (input) => createHmac('sha256', key).update(input).digest('base64url');
}

/** A token of the right secret over a payload that JSON.stringify would not write. */
function signText(payload: string): string {
  const signingInput = `${encodeJson({ alg: 'HS256' })}.${Buffer.from(payload).toString('base64url')}`;
  return `${signingInput}.${hmacWith(secret)(signingInput)}`;
}
