import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operations } from '../../conformance/contract/description.ts';
import { fragments } from '../../conformance/fragments.ts';
import { outcomes } from '../../conformance/outcomes.ts';
import { validToken } from '../support/local-service.ts';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';
import { useLocalService } from './use-local-service.ts';

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

/** Sends bytes and returns the statuses and messages of the responses, after checks of what holds for all of them. */
async function exchange(bytes: string, options?: Parameters<typeof exchangeRaw>[2]) {
  const responses = await exchangeRaw(local.service.port, bytes, options);
  return responses.map(({ status, headers, body }) => {
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

/** A whole request that leaves the connection open. */
const getBooks = 'GET /books HTTP/1.1\r\nHost: localhost\r\n\r\n';

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
  ['chunks of compressed bytes', ['Transfer-Encoding: gzip, chunked']],
  ['chunks twice over', ['Transfer-Encoding: chunked, chunked']],
  ['a vertical tab before chunked', ['Transfer-Encoding: \x0bchunked']],
  ['a carriage return alone', ['X: a\rTransfer-Encoding: chunked']],
  ['a header without a colon', ['x']],
  ['a chunk size that is no number', ['Transfer-Encoding: chunked'], 'zz\r\n'],
  ['a chunk longer than its size', ['Transfer-Encoding: chunked'], '1\r\nxx\r\n0\r\n\r\n'],
  ['a line feed alone after a chunk size', ['Transfer-Encoding: chunked'], '0\n\n'],
])('a message with %s is refused, and what follows is no request', async (_how, headers, body = '0\r\n\r\n') => {
  expect(await exchange(post('/token', ...headers) + body + smuggled, { end: true })).toEqual([badRequest]);
});

test('a message of HTTP/1.0 with chunks is refused, and what follows is no request (RFC 9112 section 6.1)', async () => {
  const message = post('/token', 'Connection: keep-alive', 'Transfer-Encoding: chunked').replace('1.1', '1.0');

  expect(await exchange(`${message}0\r\n\r\n${smuggled}`)).toEqual([badRequest]);
});

test('pipelined requests get responses in order', async () => {
  const bodies = ['{}', '{"username":1}', '', '{"password":"wrong"}'];
  const requests = bodies.map((body) => post('/token', `Content-Length: ${body.length}`) + body);
  const invalid = '400 Invalid request payload';
  const round = ['401 Invalid credentials', invalid, invalid, '401 Invalid credentials'];

  const responses = await exchange(requests.join('').repeat(25) + get('/books'));

  expect(responses).toEqual([...Array(25).fill(round).flat(), tokenRequired]);
});

test.each([
  ['no HTTP', 'NONSENSE\r\n\r\n'],
  ['cut off', 'GET /books HTT'],
  ['malformed in its body', `${post('/token', 'Transfer-Encoding: chunked')}zz\r\n`],
  ['no HTTP, although others follow', `NONSENSE\r\n\r\n${getBooks}`],
])('pipelined requests get responses up to the first one that is %s', async (_fault, faulty) => {
  const responses = await exchange(getBooks.repeat(3) + faulty, { end: true });

  expect(responses).toEqual([tokenRequired, tokenRequired, tokenRequired, badRequest]);
});

test('a client that sends byte by byte gets a response after the last one', async () => {
  const body = '{"title":"slow"}';
  const head = post('/book', authorized.trim(), `Content-Length: ${body.length}`, 'Connection: close');

  expect(await exchange(head + body, { pauseMs: 5 })).toEqual(['201 Book created successfully']);
});

test('a client that disconnects midway creates no book', async () => {
  const title = `half ${crypto.randomUUID()}`;
  const head = post('/book', authorized.trim(), 'Content-Length: 1000');
  const half = `${head}{"title":"${title}"}`;
  const sockets = await Promise.all(Array.from({ length: 50 }, () => openRaw(local.service.port, half)));
  for (const socket of sockets) socket.resetAndDestroy();

  expect((await local.send('GET', '/books')).body.toString()).not.toContain(title);
});

type Row = [kind: string, bytes: string, response?: unknown];

/** Names that could reach a prototype or a method. */
const treacherousNames = '__proto__ constructor toString hasOwnProperty valueOf then toJSON'.split(' ');

test.each<Row>([
  ['of HTTP/2 without TLS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', badRequest],
  ['of HTTP/0.9', 'GET /books\r\n\r\n', badRequest],
  ['of HTTP/2', 'GET /books HTTP/2.0\r\nHost: localhost\r\n\r\n', badRequest],
  ['of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', badRequest],
  ['of an unknown method', 'BREW /books HTTP/1.1\r\nHost: localhost\r\n\r\n', badRequest],
  ['of CONNECT', 'CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', notFound],
  ['with an unknown expectation', get('/books', 'Expect: miracles\r\n'), tokenRequired],
  ['for the whole server', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
  ['for another host, as to a proxy', get('http://elsewhere.test/books'), badRequest],
  ['with 2 hosts', get('/books', 'Host: localhost\r\n'), badRequest],
  ['without a host', get('/books').replace(/Host:.*\r\n/, ''), badRequest],
  ['with a path that leaves the root', get('/../../etc/passwd'), notFound],
  ['with an encoded path that leaves the root', get('/book/..%2f..%2fetc%2fpasswd'), tokenRequired],
  ['with a NUL in its path', get('/book/%00'), tokenRequired],
  ['with a malformed percent-encoding', get('/book/%zz'), badRequest],
  ['with a path that is no UTF-8', get('/book/%ff'), badRequest],
  ['with a path of 15,000 characters', get(`/book/${'1'.repeat(15_000)}`), tokenRequired],
  ['with a path of 100,000 characters', get(`/book/${'1'.repeat(100_000)}`), badRequest],
  ['with a header of 100,000 characters', get('/books', `X: ${'x'.repeat(100_000)}\r\n`), badRequest],
  ['with 2,000 headers', get('/books', 'X: x\r\n'.repeat(2_000))],
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
  ...['LOCALHOST:80', '127.0.0.1:8080', '127.0.0.2', '[::1]:8080'].map(
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
  expect(await exchange(bytes, { end: true })).toEqual([response]);
});

test('requests for another host are named in the output once', async () => {
  for (const host of ['elsewhere.test', 'again.test']) await exchange(get('/books', '', host));

  const [line = '', ...others] = local.service.output
    .split('\n')
    .filter((each) => each.includes('its Host is neither'));
  expect(JSON.parse(line)).toMatchObject({ level: 'WARN' });
  expect(others).toEqual([]);
});

test('a response to a request for an upgrade closes the connection, because what followed is lost', async () => {
  const upgrade = get('/books', 'Upgrade: h2c\r\n').replace('close', 'Upgrade');

  const [response, ...others] = await exchangeRaw(local.service.port, upgrade + getBooks);

  expect([response?.status, response?.headers.get('connection'), others]).toEqual([401, 'close', []]);
});

test.each([
  [10 * 2 ** 20 + 1, /^HTTP\/1\.1 413 /],
  [2, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /],
])('a client that waits to send %i bytes gets the right response first', async (bytes, expected) => {
  const head = post('/token', `Content-Length: ${bytes}`, 'Expect: 100-continue', 'Connection: close');
  const socket = await openRaw(local.service.port, head);
  socket.once('data', () => socket.end('{}'));

  expect((await Array.fromAsync(socket)).join('')).toMatch(expected);
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

const originals = [
  ...['/books', '/books?limit=0', '/book/0'].flatMap((path) => [get(path), get(path, `${token}\r\n`)]),
  get('/book/0', `${token}\r\n`).replace('GET', 'DELETE'),
  post('/token', 'Connection: close', `Content-Length: ${login.length}`) + login,
  `${post('/book', token, 'Connection: close', 'Transfer-Encoding: chunked')}b\r\n{"title":1}\r\n0\r\nX: y\r\n\r\n`,
];

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

test('random requests get a response each, in the envelope, without a server error', async () => {
  let responses = 0;
  const property = fc.asyncProperty(anyRequest, async (bytes) => {
    responses += (await exchange(bytes, { end: true })).length;
  });
  await fc.assert(property, { numRuns: 1000 });

  // A request that is cut off by its own length gets no response.
  expect(responses).toBeGreaterThan(800);
  expect(local.service.output).not.toContain('Internal server error');
  expect(local.service.output).not.toContain('"level":"ERROR"');
});

test('no part of a request, valid or not, reaches the output', async () => {
  const planted = `planted${crypto.randomUUID()}`;
  const headers = `Cookie: ${planted}\r\n${planted}: ${planted}\r\n${authorized}`;
  const targets = [`/${planted}`, `/book/${planted}`, `/book/%zz${planted}`, `/books?limit=${planted}`];
  const malformed = [planted, `${planted} / HTTP/1.1`, `GET /${planted} HTTP/1.1\r\n${planted}`];

  for (const target of targets) expect(await exchange(get(target, headers))).toHaveLength(1);
  for (const bytes of malformed) expect(await exchange(`${bytes}\r\n\r\n`)).toEqual([badRequest]);

  for (const secret of [planted, ...validToken.split('.')]) expect(local.service.output).not.toContain(secret);
});
