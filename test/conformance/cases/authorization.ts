import { encodeJson, forgeToken, splitToken } from '../../support/forge-token.ts';
import { createBook, expectStored, listBooks, listPath } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer, expectOutcome } from '../envelope.ts';
import { expectEqual } from '../expectation.ts';
import { outcomes } from '../outcomes.ts';
import { protectedRequests } from '../protected-endpoints.ts';

const rule1 = 'specification 4.3';
const rule2 = 'specification 4.4, 4.5';

/** Far enough ahead for any clock, and one more year. */
const exp = Math.floor(Date.now() / 1000) + 366 * 24 * 60 * 60;

const absentHeaders: readonly (readonly [string, (token: string) => Record<string, string>])[] = [
  ['no Authorization header', () => ({})],
  ['an empty Authorization header', () => ({ Authorization: '' })],
  ['an Authorization header of spaces', () => ({ Authorization: '   ' })],
  ['the token in Proxy-Authorization', (token) => ({ 'Proxy-Authorization': token })],
  ['the token in X-Authorization', (token) => ({ 'X-Authorization': token })],
  ['the token in a cookie', (token) => ({ Cookie: `Authorization=${token}; token=${token}` })],
];

const invalidTokens: readonly (readonly [string, (token: string) => string])[] = [
  ['the scheme Bearer before the token', (token) => `Bearer ${token}`],
  ['the scheme bearer before the token', (token) => `bearer ${token}`],
  ['the scheme Token before the token', (token) => `Token ${token}`],
  ['credentials of the scheme Basic', () => `Basic ${Buffer.from('admin:password').toString('base64')}`],
  ['one word', () => 'garbage'],
  ['the word null', () => 'null'],
  ['a dot', () => '.'],
  ['two dots', () => '..'],
  ['a.b.c', () => 'a.b.c'],
  ['6,000 characters', () => 'x'.repeat(6000)],
  ['a token in double quotes', (token) => `"${token}"`],
  ['a token twice, with a comma', (token) => `${token}, ${token}`],
  ['a token with a dot after it', (token) => `${token}.`],
  ['a token with a dot before it', (token) => `.${token}`],
  ['a token with a fourth part', (token) => `${token}.e30`],
  ['a token with five parts', (token) => `${token}.e30.e30`],
  ['a token without its header', (token) => token.slice(token.indexOf('.') + 1)],
  ['a token without its signature', (token) => token.slice(0, token.lastIndexOf('.'))],
  ['a token with an empty signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)],
  ['a signature cut by two characters', (token) => token.slice(0, -2)],
  ['half a signature', (token) => token.slice(0, -22)],
  ['a signature with bytes added', (token) => `${token}AAAA`],
  ['a signature whose first character is another', (token) => alterSignature(token)],
  ['the signature of another secret', () => forgeToken({ claims: { exp }, secret: 'not the secret' })],
  ['the signature of an empty secret', () => forgeToken({ claims: { exp }, secret: '' })],
  ['the signature of the secret "secret"', () => forgeToken({ claims: { exp }, secret: 'secret' })],
  ['the signature of the secret "undefined"', () => forgeToken({ claims: { exp }, secret: 'undefined' })],
  ['a payload changed under its signature', (token) => replacePart(token, 'payload', { exp })],
  ['a payload emptied under its signature', (token) => replacePart(token, 'payload', {})],
  [
    'a header changed under its signature',
    (token) => replacePart(token, 'header', { alg: 'HS256', kid: '1' }),
  ],
  [
    'a JSON serialisation of the token',
    (token) => {
      const { header, payload, signature } = splitToken(token);
      return JSON.stringify({ protected: header, payload, signature });
    },
  ],
];

const foreignMethods = ['RS256', 'RS512', 'ES256', 'ES384', 'PS256', 'EdDSA', 'HS1', 'hs256', ''];

/** Authorization, as far as it can be tested without the secret. */
export const authorizationCases = defineCases('authorization', [
  ...absentHeaders.map(
    ([situation, makeHeaders]): CaseDefinition => ({
      name: `With ${situation}, every protected endpoint asks for a token`,
      reference: rule1,
      run: async (context) => {
        const headers = makeHeaders(await context.token());
        const book = await createBook(context);
        for (const request of protectedRequests(book.id)) {
          expectAnswer(await context.send({ ...request, headers }), outcomes.tokenRequired);
        }
        await expectStored(context, book);
      },
    }),
  ),
  {
    name: 'A token in the query is no token',
    reference: rule1,
    run: async (context) => {
      const token = await context.token();
      const query = `?Authorization=${token}&authorization=${token}&token=${token}&access_token=${token}`;
      const answer = await context.send({ method: 'GET', path: `/book/1${query}` });
      expectAnswer(answer, outcomes.tokenRequired);
    },
  },
  ...['authorization', 'AUTHORIZATION', 'aUTHORIZATION'].map(
    (name): CaseDefinition => ({
      name: `A valid token in a header spelled ${name} is accepted`,
      reference: 'specification 4.4; RFC 9110 section 5.1',
      run: async (context) => {
        const { id, ...fields } = await createBook(context);
        const headers = { [name]: await context.token() };
        const answer = await context.send({ method: 'GET', path: `/book/${id}`, headers });
        expectAnswer(answer, outcomes.bookRetrieved, { id, ...fields });
      },
    }),
  ),
  {
    name: 'With an invalid token, every protected endpoint refuses and does nothing',
    reference: 'specification 4.1, 4.2, 4.5',
    run: async (context) => {
      const title = `refused ${crypto.randomUUID()}`;
      const book = await createBook(context);
      const headers = { Authorization: alterSignature(await context.token()) };
      for (const request of protectedRequests(book.id, JSON.stringify({ title }))) {
        expectAnswer(await context.send({ ...request, headers }), outcomes.invalidToken);
      }
      await expectStored(context, book);
      const made = (await listBooks(context)).filter((listed) => listed.title === title);
      expectEqual('books made by the refused request', made, []);
    },
  },
  {
    name: 'Without a token, POST /book makes no book',
    reference: 'specification 4.2, 4.3',
    run: async (context) => {
      const title = `refused ${crypto.randomUUID()}`;
      const answer = await context.send({ method: 'POST', path: '/book', body: JSON.stringify({ title }) });
      expectAnswer(answer, outcomes.tokenRequired);
      const made = (await listBooks(context)).filter((listed) => listed.title === title);
      expectEqual('books made by the refused request', made, []);
    },
  },
  ...invalidTokens.map(
    ([situation, makeToken]): CaseDefinition => ({
      name: `An Authorization of ${situation} is an invalid token`,
      reference: rule2,
      run: async (context) => {
        const headers = { Authorization: makeToken(await context.token()) };
        expectAnswer(await context.send({ method: 'GET', path: '/book/1', headers }), outcomes.invalidToken);
      },
    }),
  ),
  ...['none', 'None', 'NONE', 'nOnE'].map(
    (alg): CaseDefinition => ({
      name: `A token of the method ${alg} is invalid, with and without a signature`,
      reference: rule2,
      run: async (context) => {
        const { payload, signature } = splitToken(await context.token());
        const unsigned = `${encodeJson({ alg, typ: 'JWT' })}.${payload}.`;
        for (const token of [unsigned, unsigned + signature, unsigned.slice(0, -1)]) {
          const headers = { Authorization: token };
          const answer = await context.send({ method: 'GET', path: '/book/1', headers });
          expectAnswer(answer, outcomes.invalidToken);
        }
      },
    }),
  ),
  ...foreignMethods.map(
    (alg): CaseDefinition => ({
      name: `A token of the method ${JSON.stringify(alg)} with an HMAC signature is invalid`,
      reference: rule2,
      run: async (context) => {
        const forged = forgeToken({
          header: { alg, typ: 'JWT' },
          claims: { exp },
          secret: 'not the secret',
        });
        const original = replacePart(await context.token(), 'header', { alg, typ: 'JWT' });
        for (const token of [forged, original]) {
          const headers = { Authorization: token };
          const answer = await context.send({ method: 'GET', path: '/book/1', headers });
          expectAnswer(answer, outcomes.invalidToken);
        }
      },
    }),
  ),
  ...(['absent', 'malformed'] as const).map(
    (state): CaseDefinition => ({
      name: `An ${state === 'absent' ? 'absent' : 'invalid'} token comes before every other error`,
      reference: 'specification 4.2',
      run: async (context) => {
        const headers: Record<string, string> = state === 'absent' ? {} : { Authorization: 'a.b.c' };
        const outcome = state === 'absent' ? outcomes.tokenRequired : outcomes.invalidToken;
        const largeBody = JSON.stringify({ title: 'x'.repeat(500 * 1024) });
        for (const id of ['abc', '0', '9007199254740992', 9007199254740991]) {
          for (const body of ['', '{', '{"year":"x"}', '[]', largeBody]) {
            for (const request of protectedRequests(id, body)) {
              if (body !== '' && request.body === undefined) continue;
              expectAnswer(await context.send({ ...request, headers }), outcome);
            }
          }
        }
      },
    }),
  ),
  {
    name: 'One token opens every protected endpoint, any number of times',
    reference: 'specification 4.8',
    run: async (context) => {
      for (let round = 0; round < 2; round += 1) {
        const { id } = await createBook(context);
        expectOutcome(await context.call('GET', listPath(context)), outcomes.booksRetrieved);
        expectOutcome(await context.call('GET', `/book/${id}`), outcomes.bookRetrieved);
        expectOutcome(await context.call('PUT', `/book/${id}`, {}), outcomes.bookUpdated);
        expectOutcome(await context.call('DELETE', `/book/${id}`), outcomes.bookDeleted);
      }
    },
  },
]);

function replacePart(token: string, part: 'header' | 'payload', value: object): string {
  const parts = { ...splitToken(token), [part]: encodeJson(value) };
  return `${parts.header}.${parts.payload}.${parts.signature}`;
}

/** The first character, because the last one of 32 bytes has two bits that stand for nothing. */
function alterSignature(token: string): string {
  const { header, payload, signature } = splitToken(token);
  return `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
}
