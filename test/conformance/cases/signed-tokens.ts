import { encodeJson, forgeToken, signInput } from '../../support/forge-token.ts';
import { createBook } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectAnswer } from '../envelope.ts';
import { outcomes } from '../outcomes.ts';

/** Seconds ahead or past that no difference between two clocks reaches. */
const farSeconds = 60 * 60;

/** Makes a token out of the right secret and the time of the service, in seconds. */
type MakeToken = (secret: string, now: number) => string;

const accepted: readonly (readonly [string, string, MakeToken])[] = [
  ['HS256', 'specification 4.5', (secret, now) => forgeToken({ claims: { exp: now + 900 }, secret })],
  [
    'HS384',
    'specification 4.5',
    (secret, now) =>
      forgeToken({ header: { alg: 'HS384' }, claims: { exp: now + 900 }, secret, hmac: 'HS384' }),
  ],
  [
    'HS512',
    'specification 4.5',
    (secret, now) =>
      forgeToken({ header: { alg: 'HS512' }, claims: { exp: now + 900 }, secret, hmac: 'HS512' }),
  ],
  ['no exp', 'specification 4.7', (secret) => forgeToken({ claims: {}, secret })],
  [
    'more claims than exp',
    'specification 4.8',
    (secret, now) => forgeToken({ claims: { exp: now + 900, sub: 'x', role: 'none', iat: now }, secret }),
  ],
  [
    'an nbf that has passed',
    'specification 4.6',
    (secret, now) => forgeToken({ claims: { exp: now + 900, nbf: now - farSeconds }, secret }),
  ],
  [
    'no typ in its header',
    'specification 4.5',
    (secret, now) => forgeToken({ header: { alg: 'HS256' }, claims: { exp: now + 900 }, secret }),
  ],
];

const refused: readonly (readonly [string, string, MakeToken])[] = [
  [
    'an exp of a second ago',
    'specification 4.6',
    (secret, now) => forgeToken({ claims: { exp: now - 1 }, secret }),
  ],
  [
    'an exp of an hour ago',
    'specification 4.6',
    (secret, now) => forgeToken({ claims: { exp: now - farSeconds }, secret }),
  ],
  ['an exp of 0', 'specification 4.6', (secret) => forgeToken({ claims: { exp: 0 }, secret })],
  ['a negative exp', 'specification 4.6', (secret, now) => forgeToken({ claims: { exp: -now }, secret })],
  [
    'HS512 and an exp of a second ago',
    'specification 4.6',
    (secret, now) =>
      forgeToken({ header: { alg: 'HS512' }, claims: { exp: now - 1 }, secret, hmac: 'HS512' }),
  ],
  ...[String(2 ** 40), '', null, true, {}, [2 ** 40]].map((exp): readonly [string, string, MakeToken] => [
    `the exp ${JSON.stringify(exp)}`,
    'specification 4.6; RFC 7519 section 4.1.4',
    (secret) => forgeToken({ claims: { exp }, secret }),
  ]),
  [
    'an nbf that is yet to come',
    'specification 4.6',
    (secret, now) => forgeToken({ claims: { exp: now + 2 * farSeconds, nbf: now + farSeconds }, secret }),
  ],
  [
    'a string as nbf',
    'specification 4.6; RFC 7519 section 4.1.5',
    (secret, now) => forgeToken({ claims: { exp: now + 900, nbf: String(now - farSeconds) }, secret }),
  ],
  ...['RS256', 'ES256', 'PS256', 'EdDSA', 'none', 'None', 'hs256', 'HS257', ''].map(
    (alg): readonly [string, string, MakeToken] => [
      `the method ${JSON.stringify(alg)} and an HMAC signature`,
      'specification 4.5',
      (secret, now) => forgeToken({ header: { alg, typ: 'JWT' }, claims: { exp: now + 900 }, secret }),
    ],
  ),
  [
    'no method',
    'specification 4.5',
    (secret, now) => forgeToken({ header: { typ: 'JWT' }, claims: { exp: now + 900 }, secret }),
  ],
  [
    'the method HS512 and a signature of HS256',
    'specification 4.5',
    (secret, now) =>
      forgeToken({ header: { alg: 'HS512' }, claims: { exp: now + 900 }, secret, hmac: 'HS256' }),
  ],
  [
    'an unknown critical header',
    'specification 4.5; RFC 7515 section 4.1.11',
    (secret, now) =>
      forgeToken({ header: { alg: 'HS256', crit: ['x'], x: 1 }, claims: { exp: now + 900 }, secret }),
  ],
  [
    'an empty list of critical headers',
    'specification 4.5; RFC 7515 section 4.1.11',
    (secret, now) => forgeToken({ header: { alg: 'HS256', crit: [] }, claims: { exp: now + 900 }, secret }),
  ],
  [
    'b64 false and an encoded payload',
    'specification 4.5; RFC 7797 section 7',
    (secret, now) =>
      forgeToken({
        header: { alg: 'HS256', b64: false, crit: ['b64'] },
        claims: { exp: now + 900 },
        secret,
      }),
  ],
  [
    'b64 false and a payload that is not encoded',
    'specification 4.5; RFC 7797 section 7',
    (secret, now) => {
      const signingInput = `${encodeJson({ alg: 'HS256', b64: false, crit: ['b64'] })}.{"exp":${now + 900}}`;
      return `${signingInput}.${signInput(signingInput, secret)}`;
    },
  ],
  ...['[]', '"x"', '1', 'null', '', '{', '{"exp":1e999}x'].map(
    (payload): readonly [string, string, MakeToken] => [
      `the payload ${JSON.stringify(payload)}`,
      'specification 4.5; RFC 7519 section 7.2',
      (secret) => forgeToken({ payload, secret }),
    ],
  ),
  [
    'a secret that is longer by a character',
    'specification 4.5',
    (secret, now) => forgeToken({ claims: { exp: now + 900 }, secret: `${secret}x` }),
  ],
  [
    'a secret that is shorter by a character',
    'specification 4.5',
    (secret, now) => forgeToken({ claims: { exp: now + 900 }, secret: secret.slice(0, -1) }),
  ],
];

/** Tokens that only someone who knows the secret can make. */
export const signedTokenCases = defineCases('signed-tokens', [
  ...accepted.map(
    ([situation, reference, makeToken]): CaseDefinition => ({
      name: `A token with ${situation}, signed with the secret, is accepted`,
      reference,
      needsSecret: true,
      run: async (context) => {
        const book = await createBook(context);
        const answer = await sendToken(context, `/book/${book.id}`, makeToken);
        expectAnswer(answer, outcomes.bookRetrieved, book);
      },
    }),
  ),
  ...refused.map(
    ([situation, reference, makeToken]): CaseDefinition => ({
      name: `A token with ${situation}, signed by someone who knows the secret, is invalid`,
      reference,
      needsSecret: true,
      run: async (context) => {
        expectAnswer(await sendToken(context, '/book/1', makeToken), outcomes.invalidToken);
      },
    }),
  ),
]);

async function sendToken(context: ConformanceContext, path: string, makeToken: MakeToken) {
  // The service's clock decides, so its own is asked for the time: the second that it names has begun there.
  const { headers } = await context.send({ method: 'GET', path: '/books' });
  const now = Math.floor((headers.date === undefined ? Date.now() : Date.parse(headers.date)) / 1000);
  const token = makeToken(context.secret, now);
  return context.send({ method: 'GET', path, headers: { Authorization: token } });
}
