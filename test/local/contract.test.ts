import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startEngine } from '../simulators/engine.ts';
import { createBookTable } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { type CheckedResponse, checkResponse, findExamples } from '../support/contract/check-response.ts';
import { findOperation, operations } from '../support/contract/description.ts';
import { forgeToken } from '../support/forge-token.ts';
import { HttpClient, type HttpRequest } from '../support/http-client.ts';
import { settings as handlerSettings, loadHandlers } from '../support/load-handlers.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import { createDataFolder, LocalService, testSettings } from './local-service.ts';

const localLogin = { AUTH_USERNAME: 'admin', AUTH_PASSWORD: 'password' };

/** More than the local server and API Gateway take. */
const tooLargeBody = 'x'.repeat(10 * 1024 * 1024 + 1);

/** Headers of the transport, which are no part of the contract. */
const transportHeaders = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

/** Examples that no run without AWS can produce, by the end of their names, with the reason. */
const notSeenHere: Readonly<Record<string, string>> = {
  '429 tooManyRequests': 'API Gateway throttles; the local server does not',
  '502 badGateway': 'the local server calls the functions in its own process, which cannot be out of reach',
  '504 gatewayTimeout': 'a function answers 503 before its time is out; only one that is stuck gets here',
  'POST /token 500 internalServerError': 'it would take a bug',
  'POST /token 503 serviceUnavailable': 'it needs no database, and nothing in it takes time',
};

const seenExamples = new Set<string>();

let dataFolder: string;
let service: LocalService;
let client: HttpClient;
let token: string;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder, ...localLogin });
  client = new HttpClient(service);
});

afterAll(async () => {
  client.close();
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

// The examples are one session with a new service, so these tests go in order.
describe('each example of openapi.yaml is the answer of a service', () => {
  test('a login with the example of a login', async () => {
    const answer = await see({ method: 'POST', path: '/token', body: bodyExample('POST /token') });

    token = JSON.parse(answer.body.toString()).data.token;
    expect(examplesOf(answer)).toEqual(['POST /token 200 token']);
  });

  test('logins that fail', async () => {
    expect(
      await seeAll([
        { method: 'POST', path: '/token', body: '[]' },
        { method: 'POST', path: '/token', body: '{"username":"admin"}' },
        { method: 'POST', path: '/token', body: tooLargeBody },
      ]),
    ).toEqual([
      'POST /token 400 invalidRequestPayload',
      'POST /token 401 invalidCredentials',
      'POST /token 413 payloadTooLarge',
    ]);
  });

  test('a first book and a second one, with the example of a body', async () => {
    expect(
      await seeAll(
        [
          { method: 'GET', path: '/books' },
          { method: 'POST', path: '/book', body: bodyExample('POST /book') },
          { method: 'GET', path: '/book/1' },
          { method: 'POST', path: '/book', body: '{"title":"Emma"}' },
          { method: 'GET', path: '/books' },
        ],
        token,
      ),
    ).toEqual([
      'GET /books 200 none',
      'POST /book 201 dune',
      'GET /book/{id} 200 dune',
      'GET /books 200 books',
    ]);
  });

  test('a page, with the example of the header that names the next one', async () => {
    const { headers } = await see({
      method: 'GET',
      path: '/books?limit=1&after=0',
      headers: { Authorization: token, 'Accept-Encoding': 'zstd, br, gzip' },
    });

    const described = findOperation('GET', '/books')?.responses[200]?.headers;
    expect(headers).toMatchObject({ link: described?.Link?.example, 'content-encoding': 'zstd' });
  });

  test('a repeated create and a fetch of a known book, the responses with headers of their own', async () => {
    const key = { Authorization: token, 'Idempotency-Key': crypto.randomUUID() };
    const [first, second] = [
      await see({ method: 'POST', path: '/book', headers: key, body: '{}' }),
      await see({ method: 'POST', path: '/book', headers: key, body: '{}' }),
    ];
    const known = await see({
      method: 'GET',
      path: '/book/3',
      headers: { Authorization: token, 'If-None-Match': String(first.headers.etag) },
    });

    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true', etag: first.headers.etag });
    expect(known).toMatchObject({ status: 304, headers: { etag: first.headers.etag } });
  });

  test('a change and a deletion, with the example of a body', async () => {
    expect(
      await seeAll(
        [
          { method: 'PUT', path: '/book/1', body: bodyExample('PUT /book/{id}') },
          { method: 'DELETE', path: '/book/1' },
        ],
        token,
      ),
    ).toEqual(['PUT /book/{id} 200 year', 'DELETE /book/{id} 200 deleted']);
  });

  test('requests that cannot be carried out', async () => {
    expect(
      await seeAll(
        [
          { method: 'POST', path: '/book', body: '{"title":1}' },
          { method: 'POST', path: '/book', body: '{}', headers: { 'Idempotency-Key': '' } },
          { method: 'POST', path: '/book', body: '{}', headers: { 'Idempotency-Key': 'once' } },
          { method: 'POST', path: '/book', body: '{"year":1}', headers: { 'Idempotency-Key': 'once' } },
          { method: 'POST', path: '/book', body: tooLargeBody },
          { method: 'GET', path: '/books?limit=0' },
          { method: 'GET', path: '/book/999' },
          { method: 'PUT', path: '/book/999', body: '{}' },
          { method: 'PUT', path: '/book/2', body: '{"year":1.5}' },
          { method: 'PUT', path: '/book/2', body: tooLargeBody },
          { method: 'PUT', path: '/book/2', body: '{}', headers: { 'If-Match': '"x"' } },
          { method: 'DELETE', path: '/book/999' },
          { method: 'DELETE', path: '/book/2', headers: { 'If-Match': '"x"' } },
        ],
        token,
      ),
    ).toEqual([
      'POST /book 400 invalidInput',
      'POST /book 400 invalidIdempotencyKey',
      'POST /book 422 idempotencyKeyAlreadyUsed',
      'POST /book 413 payloadTooLarge',
      'GET /books 400 invalidInput',
      'GET /book/{id} 404 bookNotFound',
      'PUT /book/{id} 404 bookNotFound',
      'PUT /book/{id} 400 invalidInput',
      'PUT /book/{id} 413 payloadTooLarge',
      'PUT /book/{id} 412 preconditionFailed',
      'DELETE /book/{id} 404 bookNotFound',
      'DELETE /book/{id} 412 preconditionFailed',
    ]);
  });

  test.each([
    ['no token', undefined, 'authorizationTokenRequired'],
    ['a token behind a prefix', 'Bearer x', 'invalidToken'],
  ])('requests with %s', async (_situation, authorization, example) => {
    expect(await seeAll(protectedRequests, authorization)).toEqual(
      protectedRoutes.map((route) => `${route} 401 ${example}`),
    );
  });

  test('requests that are malformed HTTP', async () => {
    for (const { method, path } of [{ method: 'POST', path: '/token' }, ...protectedRequests]) {
      const malformed = `${method} ${path} HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`;
      const [received] = (await exchangeRaw(service.port, malformed)).responses;
      const { status = 0, headers = new Map(), body = '' } = received ?? {};
      const request = { method, path };
      const answer = { request, status, headers: Object.fromEntries(headers), body: Buffer.from(body) };
      checkResponse(answer);
      expect(examplesOf(answer)).toEqual([`${findOperation(method, path)?.route} 400 badRequest`]);
    }
  });

  test('requests while the database is down', async () => {
    const engine = await startEngine();
    const cutOff = await LocalService.start({ DB_URL: `${engine.endpoint}/books`, ...localLogin });
    await engine.stop();
    const cutOffClient = new HttpClient(cutOff);

    const answers = await Promise.all(
      protectedRequests.map((request) =>
        cutOffClient.send({
          ...request,
          headers: { Authorization: forgeToken({ secret: testSettings.SECRET_TOKEN }) },
        }),
      ),
    );

    cutOffClient.close();
    await cutOff.stop();
    expect(answers.flatMap(examplesOf)).toEqual(
      protectedRoutes.map((route) => `${route} 503 serviceUnavailable`),
    );
  });

  test('requests that meet a bug, here: a key that cannot be imported', async () => {
    captureLog();
    const engine = await startEngine();
    const { url } = await createBookTable(engine.endpoint);
    const call = await loadHandlers(url);
    vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new Error('no key'));
    const login = { username: handlerSettings.AUTH_USERNAME, password: handlerSettings.AUTH_PASSWORD };
    const headers = { Authorization: forgeToken({ secret: handlerSettings.SECRET_TOKEN }) };

    const examples: string[] = [];
    for (const request of [
      { method: 'POST', path: '/token', body: JSON.stringify(login) },
      ...protectedRequests,
    ]) {
      const {
        status,
        headers: answered = {},
        envelope,
      } = await call(request.method, request.path, {
        headers,
        body: request.body === undefined ? null : String(request.body),
      });
      const answer = {
        request,
        status,
        headers: Object.fromEntries(
          Object.entries(answered).map(([name, value]) => [name.toLowerCase(), String(value)]),
        ),
        body: Buffer.from(JSON.stringify(envelope)),
      };
      checkResponse(answer);
      examples.push(...examplesOf(answer));
    }

    await engine.stop();
    expect(examples).toEqual([
      'POST /token 500 couldNotGenerateToken',
      ...protectedRoutes.map((route) => `${route} 500 internalServerError`),
    ]);
  });

  test('all examples have been seen, but for those that only AWS can produce', () => {
    const all = operations.flatMap(({ route, responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) =>
        Object.keys(content?.['application/json'].examples ?? {}).map((name) => `${route} ${status} ${name}`),
      ),
    );
    const reasons = Object.keys(notSeenHere);
    const notSeen = all.filter((example) => !seenExamples.has(example));

    expect(notSeen.filter((example) => !reasons.some((end) => example.endsWith(end)))).toEqual([]);
    expect(reasons.filter((end) => !notSeen.some((example) => example.endsWith(end)))).toEqual([]);
  });
});

const protectedRequests: readonly HttpRequest[] = [
  { method: 'POST', path: '/book', body: '{}' },
  { method: 'GET', path: '/books' },
  { method: 'GET', path: '/book/1' },
  { method: 'PUT', path: '/book/1', body: '{}' },
  { method: 'DELETE', path: '/book/1' },
];

const protectedRoutes = protectedRequests.map(({ method, path }) => findOperation(method, path)?.route);

/** Sends a request; the client holds the answer against the description, this against its list of headers. */
async function see(request: HttpRequest): Promise<CheckedResponse> {
  const answer = await client.send(request);
  const response = findOperation(request.method, request.path)?.responses[answer.status];
  const described = Object.keys(response?.headers ?? {}).map((name) => name.toLowerCase());
  const undescribed = Object.keys(answer.headers).filter(
    (name) => !transportHeaders.has(name) && !described.includes(name),
  );
  expect(undescribed, `headers of ${request.method} ${request.path}`).toEqual([]);
  return answer;
}

/** @returns the examples that the answers are, in order */
async function seeAll(requests: readonly HttpRequest[], authorization?: string): Promise<string[]> {
  const examples: string[] = [];
  for (const request of requests) {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    examples.push(...examplesOf(await see({ ...request, headers: { ...request.headers, ...headers } })));
  }
  return examples;
}

function examplesOf(answer: CheckedResponse): readonly string[] {
  const examples = findExamples(answer);
  for (const example of examples) seenExamples.add(example);
  return examples;
}

function bodyExample(route: string): string {
  return JSON.stringify(operations.find((operation) => operation.route === route)?.bodyExamples[0]);
}
