import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../support/http-client.ts';
import { exchangeRaw, openRaw, type RawAnswer, type RawExchange } from '../support/raw-http.ts';
import { authorize, createDataFolder, LocalService } from './local-service.ts';

const badRequest = { status: 400, message: 'Bad request', data: null };
const tokenRequired = { status: 401, message: 'Authorization token required', data: null };
const notFound = { status: 404, message: 'Not found', data: null };

/** Every message that a client may get to read (docs/api.md, section Errors, and the successes of docs/specification.md). */
const messages = new Set([
  'Token generated successfully',
  'Book created successfully',
  'Books retrieved successfully',
  'Book retrieved successfully',
  'Book updated successfully',
  'Book deleted successfully',
  'Invalid input',
  'Invalid request payload',
  'Bad request',
  'Authorization token required',
  'Invalid token',
  'Invalid credentials',
  'Book not found',
  'Not found',
  'Payload too large',
]);

let service: LocalService;
let dataFolder: string;
let token: string;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder, LOG_FORMAT: 'json' });
  token = (await authorize(service.baseUrl)).Authorization;
});

afterAll(async () => {
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

/**
 * Checks what holds for every answer to anything: no 5xx, exactly the envelope, a message that is known, no error's
 * text in it, and no header that tells what the server is made of.
 */
function expectHarmless({ status, headers, body }: RawAnswer): void {
  expect(status).toBeLessThan(500);
  expect(headers.get('content-type')).toBe('application/json');
  const envelope = JSON.parse(body);
  expect(Object.keys(envelope)).toEqual(['status', 'message', 'data']);
  expect(envelope.status).toBe(status);
  expect(messages).toContain(envelope.message);
  if (status >= 400) expect(envelope.data).toBeNull();
  expect(headers.has('server')).toBe(false);
  expect(headers.has('x-powered-by')).toBe(false);
}

function envelopes({ answers, rest }: RawExchange): unknown[] {
  expect(rest).toBe('');
  for (const answer of answers) expectHarmless(answer);
  return answers.map(({ body }) => JSON.parse(body));
}

const exchange = async (bytes: string | Buffer, options?: Parameters<typeof exchangeRaw>[2]) =>
  envelopes(await exchangeRaw(service.port, bytes, options));

/** A whole request for which the connection stays open. */
const getBooks = 'GET /books HTTP/1.1\r\nHost: x\r\n\r\n';
const getBooksAndClose = 'GET /books HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('a message whose length can be read in two ways', () => {
  /** What a proxy in front might have taken for a part of the body. */
  const smuggled = 'DELETE /book/1 HTTP/1.1\r\nHost: x\r\n\r\n';
  const post = (...headers: string[]) => `POST /token HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\n\r\n`;

  test.each([
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 39']],
    ['a list of lengths', ['Content-Length: 0, 39']],
    ['a signed length', ['Content-Length: +0']],
    ['a negative length', ['Content-Length: -1']],
    ['a hexadecimal length', ['Content-Length: 0x0']],
    ['a length beyond 2^64', ['Content-Length: 18446744073709551616']],
    ['a length with a space in it', ['Content-Length: 3 9']],
    ['an empty length', ['Content-Length:', 'Content-Length: 39']],
    ['a space before the colon', ['Transfer-Encoding : chunked']],
    ['a folded line', ['Transfer-Encoding:', ' chunked']],
    ['chunks that are not the last encoding', ['Transfer-Encoding: chunked, identity']],
    ['chunks by a name of their own', ['Transfer-Encoding: xchunked']],
    ['chunks twice over', ['Transfer-Encoding: chunked, chunked']],
    ['a vertical tab before chunked', ['Transfer-Encoding: \x0bchunked']],
    ['a carriage return alone', ['X: a\rTransfer-Encoding: chunked']],
    ['a NUL in a header', ['X: a\0b']],
    ['a header without a name', [': x']],
  ])('by %s is refused, and what follows is no request', async (_how, headers) => {
    const answers = await exchange(`${post(...headers)}0\r\n\r\n${smuggled}`, { end: true });

    expect(answers).toEqual([badRequest]);
  });

  test.each([
    ['a chunk size that is no number', 'zz\r\n'],
    ['a chunk size with a sign', '+1\r\nx\r\n0\r\n\r\n'],
    ['a chunk size beyond 2^64', '10000000000000000\r\n'],
    ['a chunk that is longer than it says', '1\r\nxx\r\n0\r\n\r\n'],
    ['a line feed alone after a chunk size', '0\n\n'],
  ])('by %s is refused, and what follows is no request', async (_how, body) => {
    const bytes = post('Transfer-Encoding: chunked') + body + smuggled;

    expect(await exchange(bytes, { end: true })).toEqual([badRequest]);
  });
});

describe('requests in one go on one connection', () => {
  test('are answered one by one and in order', async () => {
    const bodies = ['{}', '{"username":1}', '', '{"password":"wrong"}'];
    const requests = bodies.map(
      (body) => `POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const invalidCredentials = { status: 401, message: 'Invalid credentials', data: null };
    const invalidPayload = { status: 400, message: 'Invalid request payload', data: null };
    const rounds = 25;

    const answers = await exchange(requests.join('').repeat(rounds) + getBooksAndClose);

    const round = [invalidCredentials, invalidPayload, invalidPayload, invalidCredentials];
    expect(answers).toEqual([...Array(rounds).fill(round).flat(), tokenRequired]);
  });

  test.each([
    ['no HTTP', 'NONSENSE\r\n\r\n'],
    ['cut off', 'GET /books HTT'],
    ['cut off in its body', 'POST /token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('are answered up to the first one that is %s, each with its own answer', async (_fault, faulty) => {
    const answers = await exchange(getBooks.repeat(3) + faulty, { end: true });

    expect(answers).toEqual([tokenRequired, tokenRequired, tokenRequired, badRequest]);
  });

  test('are not answered after one that is no HTTP', async () => {
    expect(await exchange(`NONSENSE\r\n\r\n${getBooks}`)).toEqual([badRequest]);
  });
});

describe('a client that takes its time', () => {
  test('is answered when the last byte of its body has come', async () => {
    const body = JSON.stringify({ title: 'slow' });
    const head = `POST /book HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\nContent-Length: ${body.length}\r\n\r\n`;

    const answers = await exchange(head, { pieces: [...body], pauseMs: 20, silenceMs: 3_000 });

    expect(answers).toMatchObject([{ status: 201, data: { title: 'slow' } }]);
  });

  test('is answered when its headers come byte by byte', async () => {
    const answers = await exchange('', { pieces: [...getBooksAndClose], pauseMs: 5 });

    expect(answers).toEqual([tokenRequired]);
  });

  test('holds nobody else up, three hundred times over', async () => {
    const half = `POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"username"`;
    const sockets = await Promise.all(
      Array.from({ length: 300 }, (_, index) => openRaw(service.port, index % 2 ? half : half.slice(0, 20))),
    );
    try {
      const { envelope } = await request(`${service.baseUrl}/books`, { headers: { Authorization: token } });

      expect(envelope.status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  test('that hangs up half-way leaves no book behind and the service up', async () => {
    const title = `half ${crypto.randomUUID()}`;
    const head = `POST /book HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\nContent-Length: 1000\r\n\r\n`;
    const sockets = await Promise.all(
      Array.from({ length: 50 }, () => openRaw(service.port, `${head}{"title":"${title}"}`)),
    );
    for (const socket of sockets) socket.resetAndDestroy();

    const { envelope } = await request(`${service.baseUrl}/books`, { headers: { Authorization: token } });

    const titles = (envelope.data as { title: string }[]).map((book) => book.title);
    expect(titles).not.toContain(title);
  });
});

describe('a request that is meant for something else', () => {
  test.each([
    ['of HTTP/2 without TLS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', badRequest],
    ['of HTTP/0.9', 'GET /books\r\n\r\n', tokenRequired],
    ['of HTTP/9.9', 'GET /books HTTP/9.9\r\nHost: x\r\n\r\n', badRequest],
    ['of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', badRequest],
    ['of an unknown method', 'BREW /books HTTP/1.1\r\nHost: x\r\n\r\n', badRequest],
    ['for an upgrade to WebSocket', upgrade('websocket'), tokenRequired],
    ['for an upgrade to HTTP/2', upgrade('h2c'), tokenRequired],
    ['for all of the server', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', undefined],
    ['for another host, as to a proxy', get('http://elsewhere.test/nowhere'), notFound],
    ['with 2 hosts', 'GET /books HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n', undefined],
    ['with a path that leaves the root', get('/../../etc/passwd'), notFound],
    ['with an encoded path that leaves the root', get('/book/..%2f..%2fetc%2fpasswd'), tokenRequired],
    ['with a NUL in its path', get('/book/%00'), tokenRequired],
    ['with a path that is no UTF-8', get('/book/%ff'), badRequest],
    ['with a path of bytes above 127', get('/book/\xc3\xa9'), undefined],
    ['with a path of 15,000 characters', get(`/book/${'1'.repeat(15_000)}`), tokenRequired],
    ['with a path of 100,000 characters', get(`/book/${'1'.repeat(100_000)}`), badRequest],
  ])('%s is answered in the envelope', async (_for, bytes, envelope) => {
    const answers = await exchange(bytes, { end: true });

    expect(answers).toHaveLength(1);
    if (envelope !== undefined) expect(answers).toEqual([envelope]);
  });
});

describe('headers and queries by the names of what objects inherit', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'toJSON'];

  test.each(names)('%s as a header is a header that nobody asks for', async (name) => {
    const headers = `${name}: x\r\n${name}: y\r\n`;

    expect(await exchange(getBooksAndClose.replace('\r\n', `\r\n${headers}`))).toEqual([tokenRequired]);
  });

  test.each(names)('%s as a query parameter is one that nobody asks for', async (name) => {
    const query = `${name}=1&${name}[limit]=x&${name}=2&a[]=1&a[b]=2&${name}`;

    const answers = await exchange(get(`/books?limit=1&${query}`, `Authorization: ${token}\r\n`));

    expect(answers).toMatchObject([{ status: 200 }]);
  });

  test('a limit that is there as an array, an object or not encoded is invalid or none', async () => {
    for (const query of [
      'limit[]=1',
      'limit[a]=1',
      'limit=1&limit=x',
      'limit=%00',
      'limit=%',
      '%=%',
      '&&=&',
    ]) {
      const answers = await exchange(get(`/books?${query}`, `Authorization: ${token}\r\n`));

      expect(answers).toHaveLength(1);
      expect([200, 400]).toContain((answers[0] as { status: number }).status);
    }
  });

  test('of two Authorization headers the last one counts, as through API Gateway', async () => {
    const twice = (first: string, second: string) =>
      exchange(get('/books?limit=1', `Authorization: ${first}\r\nAuthorization: ${second}\r\n`));

    expect(await twice('x', token)).toMatchObject([{ status: 200 }]);
    expect(await twice(token, 'x')).toMatchObject([{ status: 401 }]);
    expect(await twice(token, '')).toMatchObject([{ status: 401 }]);
  });

  test('two thousand headers are refused or left alone', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `a${index}: 1\r\n`).join('');

    const answers = await exchange(get('/books', many));

    expect(answers).toHaveLength(1);
  });
});

describe('requests put together at random', () => {
  const method = fc.oneof(
    { arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'), weight: 8 },
    { arbitrary: fc.constantFrom('PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'CONNECT'), weight: 1 },
  );
  const byteText = (maxLength: number) =>
    fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const visible = fc.string({
    unit: fc.constantFrom(...'ab01/?#%&=+;,.:@!~*()[]{}|\\^`"<>$_-'),
    maxLength: 20,
  });
  const path = fc.oneof(
    { arbitrary: fc.constantFrom('/token', '/book', '/books', '/book/1', '/book/999'), weight: 6 },
    {
      arbitrary: fc.constantFrom('/books?limit=1', '/books?limit=0', '/books?after=%2', '//', '/book/'),
      weight: 2,
    },
    {
      arbitrary: fc.tuple(fc.constantFrom('/', '/book/', '/books?'), visible).map((parts) => parts.join('')),
      weight: 4,
    },
    { arbitrary: fc.tuple(fc.constant('/book/'), byteText(6)).map((parts) => parts.join('')), weight: 1 },
  );
  const header = fc.oneof(
    {
      arbitrary: fc.constantFrom(
        'Content-Type: application/json',
        'Content-Type: multipart/form-data; boundary=x',
        'Content-Type: text/plain; charset=utf-7',
        'Content-Type: ,',
        'Content-Encoding: gzip',
        'Content-Encoding: br, gzip, nonsense',
        'Accept-Encoding: ;q=x',
        'Accept: ,',
        'Cookie: __Host-a=%%; ;=;"',
        'If-None-Match: *',
        'Range: bytes=9-1,',
        'Expect: 100-continue',
        'Origin: null',
        'X-HTTP-Method-Override: DELETE',
        'X-Forwarded-For: 127.0.0.1, <script>',
        'Forwarded: for="[::1"',
        'Upgrade: h2c',
        'TE: trailers',
        'Trailer: Authorization',
        'Authorization: Bearer x',
        'Authorization: AWS4-HMAC-SHA256 Credential=x',
      ),
      weight: 6,
    },
    {
      arbitrary: fc
        .tuple(fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/), visible)
        .map((parts) => parts.join(': ')),
      weight: 3,
    },
    { arbitrary: byteText(12), weight: 1 },
  );
  const body = fc.oneof(
    fc.constantFrom(
      '',
      '{}',
      '{"title":"x"}',
      '{"year":1e400}',
      '[',
      '{"username":"a","password":"b"}',
      'null',
    ),
    fc.json(),
    byteText(40),
  );
  const framing = fc.oneof(
    { arbitrary: fc.constant((text: string) => [`Content-Length: ${text.length}`, text]), weight: 6 },
    {
      arbitrary: fc.constant((text: string) => {
        return ['Transfer-Encoding: chunked', `${text.length.toString(16)}\r\n${text}\r\n0\r\nX: y\r\n\r\n`];
      }),
      weight: 2,
    },
    { arbitrary: fc.constant((text: string) => ['X: y', text]), weight: 1 },
    { arbitrary: fc.constant((text: string) => [`Content-Length: ${text.length + 1}`, text]), weight: 1 },
  );
  const anyRequest = fc
    .record({
      method,
      path,
      headers: fc.array(header, { maxLength: 4 }),
      body,
      framing,
      authorized: fc.boolean(),
    })
    .map(({ method: verb, path: target, headers, body: text, framing: frame, authorized }) => {
      const latin1 = Buffer.from(text).toString('latin1');
      const [length = '', framed = ''] = frame(latin1);
      const lines = [`${verb} ${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, length];
      return (tokenOf: string) =>
        `${[...lines, ...(authorized ? [`Authorization: ${tokenOf}`] : [])].join('\r\n')}\r\n\r\n${framed}`;
    });

  test('get an answer each, in the envelope, without a server error and without internals', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(anyRequest, async (makeRequest) => {
        const { answers, rest } = await exchangeRaw(service.port, makeRequest(token), { end: true });

        expect(rest).toBe('');
        for (const answer of answers) expectHarmless(answer);
        answered += answers.length > 0 ? 1 : 0;
      }),
      { numRuns: 1000 },
    );

    // A request that is cut off by its own length has no answer to get.
    expect(answered).toBeGreaterThan(800);
    expect(service.output).not.toContain('Internal server error');
    expect(service.output).not.toContain('"level":"ERROR"');
  });
});

test('nothing of a request reaches the output, wherever in it it was and whether it was a request at all', async () => {
  const planted = `planted${crypto.randomUUID()}`;
  const body = JSON.stringify({ username: planted, password: planted, title: planted, [planted]: planted });
  const framed = `Content-Length: ${body.length}\r\n\r\n${body}`;
  const fields = `Host: ${planted}\r\nCookie: ${planted}\r\n${planted}: ${planted}\r\nConnection: close\r\n`;

  for (const authorization of [token, planted]) {
    for (const line of ['POST /token', 'POST /book', 'PUT /book/1', `GET /books?limit=${planted}`]) {
      const headers = `${fields}Authorization: ${authorization}\r\n`;
      expect(await exchange(`${line} HTTP/1.1\r\n${headers}${framed}`)).toHaveLength(1);
    }
  }
  for (const nonsense of [
    planted,
    `${planted} / HTTP/1.1\r\n\r\n`,
    `GET /${planted} HTTP/1.1\r\n${planted}\r\n\r\n`,
  ]) {
    expect(await exchange(`${nonsense}\r\n\r\n`)).toEqual([badRequest]);
  }
  for (const path of [`/${planted}`, `/book/${planted}`, `/book/%zz${planted}`]) await exchange(get(path));

  expect(service.output).not.toContain(planted);
  for (const part of token.split('.')) expect(service.output).not.toContain(part);
});

test('after all of that, the service is up and its list is whole', async () => {
  const { envelope } = await request(`${service.baseUrl}/books`, { headers: { Authorization: token } });

  expect(envelope.status).toBe(200);
});

function get(target: string, headers = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
}

function upgrade(protocol: string): string {
  return `GET /books HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`;
}
