import { AssertionError } from 'node:assert';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { DescriptionError } from '../../conformance/contract/check-response.ts';
import { decodeToken } from '../../conformance/forge-token.ts';
import { HttpClient } from '../../conformance/http-client.ts';
import type { RequestHeaders } from '../../conformance/http-messages.ts';
import { Session } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { type Fate, type GatewayResponse, startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { testSettings, validToken } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const { baseUrl } = await useLocalService();
const service = new HttpClient({ baseUrl });
afterAll(() => service.close());

/** The name of a request, like `POST /book`, its headers and its body. */
type Sent = readonly [name: string, headers: IncomingHttpHeaders, body: Buffer | string];

type Lie = (...sent: Sent) => Fate | Promise<Fate>;

/** Forwards a request, which may be another one than was sent. */
async function ask(...[name, { 'content-length': _, ...headers }, body]: Sent): Promise<GatewayResponse> {
  const [method = '', path = ''] = name.split(' ');
  const response = await service.send({ method, path, headers: headers as RequestHeaders, body });
  const { 'content-length': __, 'transfer-encoding': ___, ...others } = response.headers;
  return { ...response, headers: others as Record<string, string>, body: response.body.toString() };
}

/** Replaces a part of the name of a request, or of its body. */
const replace = (from: string | RegExp, to: string): Lie => {
  return (name, headers, body) => ask(name.replace(from, to), headers, body.toString().replace(from, to));
};

const changeHeader = (header: string, change: (value: string) => string): Lie => {
  return (name, headers, body) => ask(name, { ...headers, [header]: change(String(headers[header])) }, body);
};

/** Takes some invalid tokens for valid ones. */
const accept = (isAccepted: (parts: { readonly alg?: string; readonly exp?: number }) => boolean): Lie => {
  return changeHeader('authorization', (token) => {
    const { header, claims } = decodeToken(token);
    return isAccepted({ ...(header as object), ...(claims as object) }) ? validToken : token;
  });
};

const changeResponse = (header: string, change: (value?: string) => string | undefined): Lie => {
  return async (...sent) => {
    const response = await ask(...sent);
    const value = change(response.headers?.[header]);
    return value === undefined ? response : { ...response, headers: { ...response.headers, [header]: value } };
  };
};

/** Joins the start of a list and the end of another one. */
function joinLists(one: string, count: number, other = '{"data":[]}'): string {
  const [{ data: books, ...envelope }, { data: others }] = [JSON.parse(one), JSON.parse(other)];
  return JSON.stringify({ ...envelope, data: [...books.slice(0, count), ...others.slice(count)] });
}

/** How a service lies, the rules of a case that has to notice it, and the requests that meet it. */
const lies: readonly (readonly [lie: string, rules: string, requests: RegExp, lie: Lie])[] = [
  ['a list ends after 100 books', '7.1, 7.3, 7.9', /\?after=\d+$/, () => (body) => joinLists(body, 100)],
  ['a search ends after 50 books', '7.1, 7.3, 7.9', /\?author=/, () => (body) => joinLists(body, 50)],
  ['a page has at most 100 books', '7.1, 7.3, 7.9', /limit=1000/, replace('limit=1000', 'limit=100')],
  [
    'a list is read in two halves by offset',
    '7.2, 3.7',
    /\?after=\d+$/,
    async (...sent) => {
      const one = await ask(...sent);
      await wait(15);
      const count = Math.floor(JSON.parse(one.body).data.length / 2);
      return { ...one, body: joinLists(one.body, count, (await ask(...sent)).body) };
    },
  ],
  ['a link forgets the year', '7.4, 7.9', /year=/, changeResponse('link', (link) => link?.replace(/&year=\d+/, ''))],
  ['q has ten words', '7.4, 7.9', /[?&]q=/, replace(/(q=(?:[^&]*?%20){9}[^&]*?)%20[^&]*/, '$1')],
  ['PUT takes expired tokens', '4.6', /^PUT/, accept(({ exp = Infinity }) => exp < Date.now() / 1000)],
  ['DELETE takes the method "none"', '4.5', /^DELETE/, accept(({ alg }) => alg === 'none')],
  ['GET takes a scheme', '4.4, 4.5, 4.9', /^GET/, changeHeader('authorization', (value) => value.slice(7))],
  ['DELETE asks for Bearer', '4.4, 4.5, 4.9', /^DELETE/, changeResponse('www-authenticate', () => 'Bearer')],
  ['64 characters of a key count', '11.1', /^POST \/book/, changeHeader('idempotency-key', (key) => key.slice(0, 64))],
  ['updates have one request id', '9.3', /^PUT/, changeResponse('x-amzn-requestid', () => 'the same')],
  ['PUT may be read by any origin', '9.3', /^PUT/, changeResponse('access-control-allow-origin', () => '*')],
  ['PUT takes the first of two members', '2.5', /^PUT/, replace(',"title":"b"', '')],
  ['PUT with a slash at the end is not found', '1.6', /^PUT .*\/$/, replace(/\/$/, '/x')],
  ['blanks after a password make no difference', '5.2, 5.3', /^POST \/token/, replace(' "}', '"}')],
];

/** Runs the cases with these rules until one fails. @returns what it says */
async function findFailure(rules: readonly string[], requests: RegExp, lie: Lie): Promise<string | undefined> {
  const decide: Lie = (name, ...sent) => (requests.test(name) ? lie(name, ...sent) : 'pass');
  const gateway = await startFaultyGateway(baseUrl, decide);
  onTestFinished(() => gateway.stop());
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password, SECRET_TOKEN: secret } = testSettings;
  const session = new Session({ baseUrl: gateway.baseUrl, username, password, secret });
  onTestFinished(() => session.close());
  for (const { run } of conformanceCases.filter((each) => rules.includes(each.rules.join(', ')))) {
    try {
      await run(session);
    } catch (error) {
      if (error instanceof AssertionError || error instanceof DescriptionError) return error.message;
      throw error;
    }
  }
  return undefined;
}

test('a service that does not lie passes the cases below', async () => {
  expect(
    await findFailure(
      lies.map(([, rules]) => rules),
      /^/,
      ask,
    ),
  ).toBeUndefined();
});

test.each(lies)('the suite notices that %s', async (_name, rules, requests, lie) => {
  expect(await findFailure([rules], requests, lie)).toBeTypeOf('string');
});
