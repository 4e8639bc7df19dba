import { afterAll, describe, expect, test, vi } from 'vitest';
import { checkResponse, findExamples } from '../../conformance/contract/check-response.ts';
import {
  examplesOf,
  findOperation,
  operations,
  requestEach,
} from '../../conformance/contract/description.ts';
import { HttpClient, type HttpRequest, type HttpResponse } from '../../conformance/http-client.ts';
import { defaultCredentials } from '../../tools/local/local-service.ts';
import { useService } from '../support/fixtures.ts';
import { settings } from '../support/load-handlers.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import { useLocalService } from './use-local-service.ts';

/** Above the limits of the local server and API Gateway. */
const tooLargeBody = 'x'.repeat(10 * 1024 * 1024 + 1);

/** Headers of the transport, which are not part of the contract. */
const transportHeaders =
  /^(?:cache-control|connection|content-encoding|content-length|content-type|date|keep-alive|transfer-encoding)$/;

/** Examples that only AWS can produce, by the end of their names, with the reason. */
const notSeenHere: Readonly<Record<string, string>> = {
  '429 example': 'API Gateway throttles; the local server does not',
  '502 example': 'the local server calls the functions in its own process, which cannot be out of reach',
  '504 example': 'a function responds with 503 before its timeout; only a stuck one gets here',
  'POST /token 500 internalServerError': 'it would take a bug',
  'POST /token 503 example': 'it needs no database, and nothing in it takes time',
};

/** A request to each operation. */
const requests = requestEach(1, '{}');
const protectedRequests = requests.filter(({ isPublic }) => !isPublic).map(({ request }) => request);

const seenExamples = new Set<string>();

const local = await useLocalService(defaultCredentials);
// Two instances of the functions: the key is imported once.
const cutOff = await useService();
const faulty = await useService();
const client = new HttpClient(local);

afterAll(() => client.close());

// The examples are one session with a new service, so these tests run in order.
describe('each example of openapi.yaml is the response of a service', () => {
  test('to logins', async () => {
    await see('POST', '/token', { body: bodyExample('POST /token') });
    for (const body of ['[]', '{"username":"admin"}', tooLargeBody]) await see('POST', '/token', { body });
  });

  test('to requests that succeed', async () => {
    const { headers } = local;
    await see('GET', '/books', { headers });
    await see('POST', '/book', { headers, body: bodyExample('POST /book') });
    await see('POST', '/book', { headers, body: '{"title":"Emma"}' });
    for (const { method, path } of protectedRequests) {
      if (method === 'GET') await see(method, path, { headers });
    }
    const compressed = { ...headers, 'Accept-Encoding': 'zstd, br, gzip' };
    const page = await see('GET', '/books?limit=1&after=0', { headers: compressed });
    const creation = { headers: { ...headers, 'Idempotency-Key': crypto.randomUUID() }, body: '{}' };
    const first = await see('POST', '/book', creation);
    const second = await see('POST', '/book', creation);
    const etag = String(first.headers.etag);
    const known = await see('GET', '/book/3', { headers: { ...headers, 'If-None-Match': etag } });
    await see('PUT', '/book/1', { headers, body: bodyExample('PUT /book/{id}') });
    await see('DELETE', '/book/1', { headers });

    const described = findOperation('GET', '/books')?.responses[200]?.headers;
    expect(page.headers).toMatchObject({ link: described?.Link?.example, 'content-encoding': 'zstd' });
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true', etag });
    expect(known).toMatchObject({ status: 304, headers: { etag } });
  });

  test.each<[string, string, Pick<HttpRequest, 'body' | 'headers'>]>([
    ['POST', '/book', { body: '{"title":1}' }],
    ['POST', '/book', { body: '{}', headers: { 'Idempotency-Key': '' } }],
    ['POST', '/book', { body: '{}', headers: { 'Idempotency-Key': 'once' } }],
    ['POST', '/book', { body: '{"year":1}', headers: { 'Idempotency-Key': 'once' } }],
    ['POST', '/book', { body: tooLargeBody }],
    ['GET', '/books?limit=0', {}],
    ['GET', '/book/999', {}],
    ['PUT', '/book/999', { body: '{}' }],
    ['PUT', '/book/2', { body: '{"year":1.5}' }],
    ['PUT', '/book/2', { body: tooLargeBody }],
    ['PUT', '/book/2', { body: '{}', headers: { 'If-Match': '"x"' } }],
    ['DELETE', '/book/999', {}],
    ['DELETE', '/book/2', { headers: { 'If-Match': '"x"' } }],
  ])('to %s %s that cannot be carried out', async (method, path, { headers, body = '' }) => {
    await see(method, path, { headers: { ...headers, ...local.headers }, body });
  });

  test.each([{}, { Authorization: 'Bearer x' }])(
    'to requests with %o in place of a token',
    async (headers) => {
      for (const { method, path, body = '' } of protectedRequests)
        expect((await see(method, path, { headers, body })).status).toBe(401);
    },
  );

  test('to malformed HTTP', async () => {
    for (const { request } of requests) {
      const malformed = `${request.method} ${request.path} HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`;
      const [response, ...others] = await exchangeRaw(local.service.port, malformed);
      expect([response?.status, others]).toEqual([400, []]);
      if (response !== undefined) note(request, response.status, response.headers, response.body);
    }
  });

  test.each([
    ['the database is down', cutOff, () => cutOff.proxy.disturb({ fault: 'request lost' })],
    [
      'there is a bug, here a secret that cannot be imported',
      faulty,
      () => vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key')),
    ],
  ])('while %s', async (_problem, functions, cause) => {
    cause();
    const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = settings;
    const login = { method: 'POST', path: '/token', body: JSON.stringify({ username, password }) };

    for (const request of [login, ...protectedRequests]) {
      const { method, path, body = null } = request;
      const { status, headers = {}, envelope } = await functions.send(method, path, { body });
      note(request, status, Object.entries(headers), JSON.stringify(envelope));
    }
  });

  test('all of them, except those that only AWS can produce', () => {
    const all = operations.flatMap(({ route, responses }) =>
      Object.entries(responses).flatMap(([status, response]) =>
        Object.keys(examplesOf(response)).map((name) => `${route} ${status} ${name}`),
      ),
    );
    const reasons = Object.keys(notSeenHere);
    const notSeen = all.filter((example) => !seenExamples.has(example));

    expect(notSeen.filter((example) => !reasons.some((end) => example.endsWith(end)))).toEqual([]);
    expect(reasons.filter((end) => !notSeen.some((example) => example.endsWith(end)))).toEqual([]);
  });
});

/** Sends a request; the client compares the response with the description, this its headers. */
async function see(method: string, path: string, init: Omit<HttpRequest, 'method' | 'path'>) {
  const response = await client.send({ method, path, ...init });
  const described = findOperation(method, path)?.responses[response.status]?.headers ?? {};
  const names = Object.keys(described).map((name) => name.toLowerCase());
  const undescribed = Object.keys(response.headers).filter(
    (name) => !transportHeaders.test(name) && !names.includes(name),
  );
  expect(undescribed, `headers of ${method} ${path}`).toEqual([]);
  return noteResponse(response);
}

/** Notes a response that the client did not receive. */
function note(
  request: HttpRequest,
  status: number,
  headers: Iterable<readonly [string, unknown]>,
  body: string,
) {
  const named = Array.from(headers, ([name, value]) => [name.toLowerCase(), String(value)]);
  noteResponse({ request, status, headers: Object.fromEntries(named), body: Buffer.from(body) });
}

/** Notes the examples that a response is. */
function noteResponse<Response extends HttpResponse>(response: Response): Response {
  checkResponse(response);
  for (const example of findExamples(response)) seenExamples.add(example);
  return response;
}

function bodyExample(route: string): string {
  return JSON.stringify(operations.find((operation) => operation.route === route)?.bodyExamples[0]);
}
