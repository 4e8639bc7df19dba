import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { checkResponse, DescriptionError, findExamples } from '../../conformance/contract/check-response.ts';
import {
  examplesOf,
  findOperation,
  getOperation,
  operations,
  requestEach,
} from '../../conformance/contract/description.ts';
import type { HttpRequest, HttpResponse } from '../../conformance/http-messages.ts';
import { Session, type SessionOptions } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { tableFunctions } from '../../serverless/functions.ts';
import { requestLost } from '../fakes/faults.ts';
import { captureLog } from '../support/captured-log.ts';
import { useTables } from '../support/fixtures.ts';
import { defaultCredentials, testSettings, validToken } from '../support/local-service.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import { serveFunctions } from '../support/serve-functions.ts';

/** Headers of the transport, which are not part of the contract. */
const transportHeaders =
  /^(?:connection|content-encoding|content-length|content-type|date|keep-alive|transfer-encoding)$/;

/** Whether only AWS, or a bug, can produce an example, such as `POST /book 502 example`. */
function isNotSeenHere(example: string): boolean {
  // API Gateway throttles. The local server calls the functions in its own process, which cannot be out of reach. A
  // function responds with 503 before its timeout, and only a stuck one gets a 504.
  if (/ (429|502|504) /.test(example)) return true;
  const isOf = (route: string) => example.startsWith(`${route} `);
  const isPublic = operations.some((operation) => operation.isPublic && isOf(operation.route));
  const isOfTable = tableFunctions.some(({ event: { method, path } }) => isOf(`${method} ${path}`));
  // The bug below is in the check of a token.
  return (isPublic && / 500 (internalError|example)$/.test(example)) || (!isOfTable && / 503 example$/.test(example));
}

const requests = requestEach(1, '{}').map(({ request }) => request);
const seenExamples = new Set<string>();

/** Differences from openapi.yaml that have failed a case. */
const reportedProblems = new Set<string>();

/** Headers that openapi.yaml does not describe: a header that all responses have is one failure. */
const undescribedHeaders = new Set<string>();

const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = defaultCredentials;
const headers = { Authorization: validToken };

const tables = await useTables();
const { table, proxy } = await tables.openThroughProxy();
const service = await serveFunctions(table.url);
const session = openSession(service.baseUrl);
const corsOrigin = 'https://docs.example.com';
const configured = openSession(
  (await serveFunctions(table.url, { CORS_ORIGIN: corsOrigin, TOKEN_LIFETIME: '60' })).baseUrl,
  { corsOrigin, tokenLifetime: 60 },
);
const cutOff = openSession((await serveFunctions(`${proxy.endpoint}/${table.tableName}`)).baseUrl);
// An instance of its own, because the others have imported the key.
const faulty = openSession((await serveFunctions(table.url)).baseUrl);

beforeEach(() => {
  captureLog();
});

// First, because the examples begin with an empty catalog. Conformance cases show those of refused requests.
test('a session shows the examples of requests that succeed, and of a login that is too large', async () => {
  const send = async (method: string, path: string, body?: string) =>
    note(await session.send({ method, path, headers, ...(body && { body }) }));
  await send('GET', '/books');
  await send('POST', '/book', bodyExample('POST /book'));
  await send('POST', '/book', '{"title":"Emma"}');
  for (const { method, path } of requests) if (method === 'GET') await send(method, path);
  const page = await send('GET', '/books?limit=1&after=0');
  await send('PUT', '/book/1', bodyExample('PUT /book/{id}'));
  await send('DELETE', '/book/1');
  await send('POST', '/token', 'x'.repeat(10 * 1024 * 1024 + 1));

  const described = findOperation('GET', '/books')?.responses[200]?.headers;
  expect(page.headers.link).toBe(described?.Link?.example);
});

test('a malformed path shows the examples of 400', async () => {
  for (const request of requests) {
    const malformed = `${request.method} ${request.path}/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const { status, headers, body } = (await exchangeRaw(service.port, malformed)) ?? expect.unreachable();
    noteOther(request, status, headers, body);
  }
});

test.each([
  ['the database is down', cutOff, () => proxy.disturb({ fault: requestLost })],
  [
    'there is a bug, here a secret that cannot be imported',
    faulty,
    () => vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key')),
  ],
])('each function shows its example of a failure while %s', async (_problem, functions, cause) => {
  cause();

  for (const { method, path, body } of requests) {
    const sent = path === '/token' ? JSON.stringify({ username, password }) : body;
    note(await functions.send({ method, path, headers, ...(sent !== undefined && { body: sent }) }));
  }
});

describe('the service conforms', () => {
  for (const { name, rules, run } of conformanceCases) {
    test(`${name} (rules ${rules.join(', ')})`, async () => {
      const responses: HttpResponse[] = [];
      await run(session, responses).catch(throwOnce);
      responses.forEach(note);
    });
  }
});

describe('with an origin and a lifetime of tokens in the configuration', () => {
  const cases = conformanceCases.filter(({ group, rules }) => group === 'cross-origin' || rules.includes('5.5'));
  for (const { name, rules, run } of cases) {
    test(`${name} (rules ${rules.join(', ')})`, () => run(configured).catch(throwOnce));
  }
});

test('each example of openapi.yaml was the response of a service, except those that only AWS can produce', () => {
  const all = operations.flatMap(({ route, responses }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      Object.keys(examplesOf(response)).map((name) => `${route} ${status} ${name}`),
    ),
  );

  expect(all.filter((example) => !seenExamples.has(example) && !isNotSeenHere(example))).toEqual([]);
});

test('openapi.yaml describes each header of a response', () => {
  expect([...undescribedHeaders]).toEqual([]);
});

function openSession(baseUrl: string, options: Partial<SessionOptions> = {}): Session {
  const opened = new Session({ baseUrl, username, password, secret: testSettings.SECRET_TOKEN, ...options });
  afterAll(() => opened.close());
  return opened;
}

/** Throws an error of a case, unless a difference from openapi.yaml has failed another case: most cases may have it. */
function throwOnce(error: unknown): void {
  if (error instanceof DescriptionError) {
    if (reportedProblems.has(error.problem)) return;
    reportedProblems.add(error.problem);
  }
  throw error;
}

/** Notes the examples that a response is, and its headers that are not described. */
function note(response: HttpResponse): HttpResponse {
  const { method, path } = response.request;
  const described = findOperation(method, path)?.responses[response.status];
  const names = Object.keys(described?.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of Object.keys(response.headers)) {
    const isKnown = described === undefined || transportHeaders.test(name) || names.includes(name);
    if (!isKnown) undescribedHeaders.add(`${name} of ${findOperation(method, path)?.route} ${response.status}`);
  }
  for (const example of findExamples(response)) seenExamples.add(example);
  return response;
}

/** Notes a response that no {@link Session} has compared with openapi.yaml. */
function noteOther(request: HttpRequest, status: number, headers: Iterable<[string, unknown]>, body: string) {
  const named = Array.from(headers, ([name, value]) => [name.toLowerCase(), String(value)]);
  const response = { request, status, headers: Object.fromEntries(named), body: Buffer.from(body) };
  checkResponse(response);
  note(response);
}

function bodyExample(route: string): string {
  return JSON.stringify(getOperation(route).bodyExamples[0]);
}
