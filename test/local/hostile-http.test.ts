import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operations } from '../../conformance/contract/description.ts';
import { fragments } from '../../conformance/fragments.ts';
import { outcomes } from '../../conformance/outcomes.ts';
import { validToken } from '../support/local-service.ts';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

const badRequest = '400 Bad request';
const tokenRequired = '401 Authorization token required';
const invalidToken = '401 Invalid token';
const notFound = '404 Not found';
const listed = '200 Books retrieved successfully';

const local = await useLocalService({ LOG_FORMAT: 'json' });

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Every response below 500. */
const knownResponses = [...Object.values(outcomes), ...operations.flatMap(({ success }) => success ?? [])].map(
  ({ status, message }) => `${status} ${message}`,
);

/**
 * Sends bytes and returns the statuses and messages of the responses, after checks of what holds for all of them. A
 * response of Node to what is not an HTTP request has a status only.
 */
async function exchange(bytes: string, options?: Parameters<typeof exchangeRaw>[2]) {
  const responses = await exchangeRaw(local.service.port, bytes, options);
  return responses.map(({ status, headers, body }) => {
    if (body === '' && headers.size === 1 && headers.get('connection') === 'close') return String(status);
    const envelope = JSON.parse(body);
    expect(Object.keys(envelope)).toEqual(['status', 'message', 'data']);
    expect(envelope.status).toBe(status);
    if (status >= 400) expect(envelope.data).toBeNull();
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('x-amzn-requestid')).toMatch(uuid);
    for (const revealing of ['server', 'x-powered-by']) expect(headers.has(revealing)).toBe(false);
    const response = `${status} ${envelope.message}`;
    expect(knownResponses).toContain(response);
    return response;
  });
}

const authorized = `Authorization: ${validToken}\r\n`;

const get = (target: string, headers = '', host = 'localhost') =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`;

const post = (path: string, ...headers: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers.join('\r\n')}\r\n\r\n`;

// First, because lines of earlier requests may still be on their way.
test('each request leaves one line of JSON in the output, with the id of its response (rule 1.9)', async () => {
  const readIds = () => Array.from(local.service.output.matchAll(/"apiRequestId":"([^"]*)"/g), ([, id]) => id);
  const before = readIds().length;

  const responses = [await local.send('GET', '/books'), await local.send('GET', '/book/7')];

  await expect.poll(() => readIds().slice(before)).toEqual(responses.map(({ headers }) => headers['x-amzn-requestid']));
});

/** A request that a proxy might treat as part of the body. */
const smuggled = 'DELETE /book/1 HTTP/1.1\r\nHost: localhost\r\n\r\n';

test.each([
  ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
  ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
  ['two lengths', ['Content-Length: 0', 'Content-Length: 39']],
  ['a length beyond 2^64', ['Content-Length: 18446744073709551616']],
  ['a space before the colon', ['Transfer-Encoding : chunked']],
  ['chunks that are not the last encoding', ['Transfer-Encoding: chunked, identity']],
  ['an unknown encoding', ['Transfer-Encoding: xchunked']],
  ['chunks twice over', ['Transfer-Encoding: chunked, chunked']],
  ['a vertical tab before chunked', ['Transfer-Encoding: \x0bchunked']],
  ['a carriage return alone', ['X: a\rTransfer-Encoding: chunked']],
  ['a header without a colon', ['x']],
  ['a chunk size that is no number', ['Transfer-Encoding: chunked'], 'zz\r\n'],
  ['a chunk longer than its size', ['Transfer-Encoding: chunked'], '1\r\nxx\r\n0\r\n\r\n'],
  ['a line feed alone after a chunk size', ['Transfer-Encoding: chunked'], '0\n\n'],
])('Node refuses a message with %s, and what follows is not a request', async (_how, headers, body = '0\r\n\r\n') => {
  expect(await exchange(post('/token', ...headers) + body + smuggled)).toEqual(['400']);
});

test('pipelined requests get responses in order', async () => {
  const bodies = ['{}', '{"username":1}', '', '{"password":"wrong"}'];
  const requests = bodies.map((body) => post('/token', `Content-Length: ${body.length}`) + body);
  const invalid = '400 Invalid request payload';
  const round = ['401 Invalid credentials', invalid, invalid, '401 Invalid credentials'];

  const responses = await exchange(requests.join('').repeat(10) + get('/books'));

  expect(responses).toEqual([...Array(10).fill(round).flat(), tokenRequired]);
});

test('a client that sends byte by byte gets a response after the last one', async () => {
  const body = '{"title":"slow"}';
  const head = post('/book', authorized.trim(), `Content-Length: ${body.length}`, 'Connection: close');

  expect(await exchange(head + body, { pauseMs: 5 })).toEqual(['201 Book created successfully']);
});

test('a client that disconnects midway creates no book, and is not logged as a failure', async () => {
  const title = `half ${crypto.randomUUID()}`;
  const head = post('/book', authorized.trim(), 'Content-Length: 1000');
  const half = `${head}{"title":"${title}"}`;
  const sockets = await Promise.all(Array.from({ length: 50 }, () => openRaw(local.service.port, half)));
  for (const socket of sockets) socket.resetAndDestroy();

  expect((await local.send('GET', '/books')).body.toString()).not.toContain(title);
  expect(local.service.output).not.toContain('A function failed');
});

type Row = [kind: string, bytes: string, response?: unknown];

/** Names that could reach a prototype or a method. */
const treacherousNames = '__proto__ constructor toString hasOwnProperty valueOf then toJSON'.split(' ');

test.each<Row>([
  ['with an unknown expectation', get('/books', 'Expect: miracles\r\n'), tokenRequired],
  ['for the whole server', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
  ['for another host, as to a proxy', get('http://elsewhere.test/books'), badRequest],
  ['for this host, as to a proxy', get('http://localhost/books'), tokenRequired],
  ['with 2 hosts', get('/books', 'Host: localhost\r\n'), badRequest],
  ['without a host', get('/books').replace(/Host:.*\r\n/, ''), badRequest],
  ['with a path that leaves the root', get('/../../etc/passwd'), notFound],
  ['with an encoded path that leaves the root', get('/book/..%2f..%2fetc%2fpasswd'), tokenRequired],
  ['with a NUL in its path', get('/book/%00'), tokenRequired],
  ['with a malformed percent-encoding', get('/book/%zz'), badRequest],
  ['with a path that is no UTF-8', get('/book/%ff'), badRequest],
  ['with a path of 15,000 characters', get(`/book/${'1'.repeat(15_000)}`), tokenRequired],
  ['with a Range header', get('/books?limit=1', `${authorized}Range: bytes=0-3\r\n`), listed],
  // The last one counts, as behind API Gateway.
  ['with two tokens, the last one valid', get('/books', `Authorization: x\r\n${authorized}`), listed],
  ['with two tokens, the first one valid', get('/books', `${authorized}Authorization: x\r\n`), invalidToken],
  ['with a token and none', get('/books', `${authorized}Authorization: \r\n`), tokenRequired],
  ...['websocket', 'h2c'].map((protocol): Row => {
    const request = get('/books', `Upgrade: ${protocol}\r\n`).replace('close', 'Upgrade, close');
    return [`for an upgrade to ${protocol}`, request, tokenRequired];
  }),
  ...['', '127.0.0.1.', 'localhost.', '[::1].'].map((start): Row => {
    const host = `${start}elsewhere.test`;
    return [`for the host ${host}`, get('/books', '', host), badRequest];
  }),
  ...['LOCALHOST:80', '127.0.0.1:8080', '127.0.0.2', '[::1]:8080', '[::ffff:7f00:1]:8080'].map(
    (host): Row => [`for the host ${host}`, get('/books', '', host), tokenRequired],
  ),
  ...treacherousNames.map((name): Row => {
    const query = `limit=1&${name}=1&${name}[limit]=x&${name}=2&a[]=1&a[b]=2&${name}`;
    const headers = `${name}: x\r\n${name}: y\r\n${authorized}`;
    return [`with ${name} as a header and as a query parameter`, get(`/books?${query}`, headers), listed];
  }),
  ...['limit[]=1', 'limit[a]=1', 'limit=1&limit=x', 'limit=%00', 'limit=%', '%=%', '&&=&'].map((query): Row => {
    const response = expect.stringMatching(/^[24]00 /);
    return [`with the query ${query}`, get(`/books?${query}`, authorized), response];
  }),
])('a request %s gets a response in the envelope', async (_kind, bytes, response = expect.anything()) => {
  expect(await exchange(bytes)).toEqual([response]);
});

test.each([
  ['of HTTP/2 without TLS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ['400']],
  ['of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ['400']],
  ['of an unknown method', 'BREW /books HTTP/1.1\r\nHost: localhost\r\n\r\n', ['400']],
  ['of CONNECT', 'CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', []],
  ['with a path of 20,000 characters', get(`/book/${'1'.repeat(20_000)}`), ['431']],
  ['with a header of 20,000 characters', get('/books', `X: ${'x'.repeat(20_000)}\r\n`), ['431']],
])('Node itself refuses a request %s', async (_kind, bytes, responses) => {
  expect(await exchange(bytes)).toEqual(responses);
});

test('requests for another host are named in the output once', async () => {
  for (const host of ['elsewhere.test', 'again.test']) await exchange(get('/books', '', host));

  const [line = '', ...others] = local.service.output
    .split('\n')
    .filter((each) => each.includes('its Host is neither'));
  expect(JSON.parse(line)).toMatchObject({ level: 'WARN' });
  expect(others).toEqual([]);
});

/** Lines that servers and proxies have misread. */
const oddLines = [
  'Transfer-Encoding: chunked',
  'Content-Encoding: br, gzip, nonsense',
  'Content-Type: multipart/form-data; boundary=x',
  'Accept-Encoding: ;q=x',
  'Cookie: __Host-a=%%; ;=;"',
  'If-None-Match: *',
  'Range: bytes=9-1,',
  'Expect: 100-continue',
  'X-HTTP-Method-Override: DELETE',
  'Forwarded: for="[::1"',
  'Upgrade: h2c',
  'Trailer: Authorization',
  'Authorization: AWS4-HMAC-SHA256 Credential=x',
];

const token = 'Authorization: TOKEN';
const login = '{"username":"a","password":"b"}';

const send = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

const originals = [
  ...['GET /books', 'GET /books?limit=0', 'GET /book/0'].flatMap((line) => [send(line), send(line, token)]),
  send('DELETE /book/0', token),
  send('POST /token', `Content-Length: ${login.length}`) + login,
  `${send('POST /book', token, 'Transfer-Encoding: chunked')}b\r\n{"title":1}\r\n0\r\nX: y\r\n\r\n`,
];

/** Ends a connection, whatever came before: it is a request, a part of one, or not HTTP. */
const last = get('/last');

const bytes = fc.uint8Array({ maxLength: 3 }).map((array) => Buffer.from(array).toString('latin1'));
const patch = { at: fc.nat(200), length: fc.nat(3), text: fc.oneof(fc.constantFrom(...fragments), bytes) };
const anyChange = fc.oneof(
  fc.record({ at: fc.nat(9), line: fc.constantFrom(...oddLines) }).map(({ at, line }) => (request: string) => {
    const lines = request.split('\r\n');
    return lines.toSpliced(1 + (at % lines.indexOf('')), 0, line).join('\r\n');
  }),
  fc.record(patch).map(({ at, length, text }) => (request: string) => {
    const start = at % request.length;
    return request.slice(0, start) + text + request.slice(start + length);
  }),
);
const anyRequest = fc
  .tuple(fc.constantFrom(...originals), fc.array(anyChange, { maxLength: 3 }))
  .map(([original, changes]) => changes.reduce((request, change) => change(request), original))
  .map((request) => request.replace('TOKEN', validToken));

test('random requests get a response each, in the envelope or from Node, without a server error', async () => {
  let enveloped = 0;
  const property = fc.asyncProperty(anyRequest, async (bytes) => {
    const [response, ...others] = await exchange(bytes + last);
    if (others.length > 0) enveloped += 1;
    expect(response).toBeDefined();
  });
  await fc.assert(property, { numRuns: 1000 });

  expect(enveloped).toBeGreaterThan(400);
  expect(local.service.output).not.toContain('Internal server error');
  expect(local.service.output).not.toContain('"level":"ERROR"');
});

test('no part of a request, valid or not, reaches the output', async () => {
  const planted = `planted${crypto.randomUUID()}`;
  const headers = `Cookie: ${planted}\r\n${planted}: ${planted}\r\n${authorized}`;
  const targets = [`/${planted}`, `/book/${planted}`, `/book/%zz${planted}`, `/books?limit=${planted}`];
  const malformed = [planted, `${planted} / HTTP/1.1`, `GET /${planted} HTTP/1.1\r\n${planted}`];

  for (const target of targets) expect(await exchange(get(target, headers))).toHaveLength(1);
  for (const bytes of malformed) expect(await exchange(`${bytes}\r\n\r\n`)).toEqual(['400']);

  for (const secret of [planted, ...validToken.split('.')]) expect(local.service.output).not.toContain(secret);
});
