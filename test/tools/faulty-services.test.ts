import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Book } from '../../conformance/catalog.ts';
import { forgeToken } from '../../conformance/forge-token.ts';
import { Session } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { aBook } from '../support/a-book.ts';
import { captureLog } from '../support/captured-log.ts';
import { useTables } from '../support/fixtures.ts';
import { defaultCredentials, testSettings, validToken } from '../support/local-service.ts';
import { close, listen } from '../support/loopback-server.ts';
import { serveFunctions } from '../support/serve-functions.ts';

/** A request and its response. */
interface Exchange {
  readonly method: string;
  path: string;
  readonly sent: IncomingHttpHeaders;
  sentBody: Buffer;
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

type Envelope = { readonly status: number; readonly message: string; readonly data: unknown };

/** What a service does wrong. */
interface Fault {
  /** Changes a request. @returns the response, when the service does not get the request */
  readonly before?: (exchange: Exchange) => Envelope | undefined | Promise<undefined>;
  /** Changes a response. */
  readonly after?: (exchange: Exchange) => void;
}

const tables = await useTables();
const table = await tables.open();
const { port } = await serveFunctions(table.url);

/** The fault of the service behind this proxy. */
let fault: Fault = {};
const proxy = createServer(async (incoming, outgoing) => {
  const { method = '', url: path = '', headers: sent } = incoming;
  const sentBody = await buffer(incoming);
  const exchange = { method, path, sent, sentBody, status: 0, headers: {}, body: Buffer.alloc(0) };
  const envelope = await fault.before?.(exchange);
  Object.assign(exchange, envelope === undefined ? await forward(exchange) : makeResponse(envelope));
  fault.after?.(exchange);
  outgoing.writeHead(exchange.status, exchange.headers).end(exchange.body);
});

async function forward({ method, path, sent, sentBody }: Exchange) {
  const { 'content-length': _length, ...others } = sent;
  const passed = sendRequest({ port, host: '127.0.0.1', method, path, headers: others }).end(sentBody);
  const [response] = (await once(passed, 'response')) as [IncomingMessage];
  const { 'content-length': _bytes, 'transfer-encoding': _coding, ...headers } = response.headers;
  return { status: response.statusCode, headers, body: await buffer(response) };
}

function makeResponse(envelope: Envelope) {
  const headers = { 'content-type': 'application/json', 'x-amzn-requestid': crypto.randomUUID() };
  return { status: envelope.status, headers, body: Buffer.from(JSON.stringify(envelope)) };
}

const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = defaultCredentials;
const { SECRET_TOKEN: secret } = testSettings;
const baseUrl = `http://127.0.0.1:${await listen(proxy)}`;
const session = new Session({ baseUrl, username, password, secret });
afterAll(async () => {
  session.close();
  await close(proxy);
});

beforeEach(() => {
  captureLog();
});

/** Changes requests. */
const inRequest = (change: (exchange: Exchange) => void): Fault => ({
  before: (exchange) => {
    change(exchange);
    return undefined;
  },
});

/** Whether a request begins so, as in `GET /book/`. */
const begins = ({ method, path }: Exchange, start: string) => `${method} ${path}`.startsWith(start);

/** Changes the responses to the requests that begin so. */
const inResponse = (start: string, change: (exchange: Exchange) => void): Fault => ({
  after: (exchange) => {
    if (begins(exchange, start)) change(exchange);
  },
});

const inEnvelope = (start: string, change: (envelope: Envelope) => object) =>
  inResponse(start, (exchange) => {
    const { headers, body } = exchange;
    const text = headers['content-encoding'] === undefined ? body : gunzipSync(body);
    exchange.body = Buffer.from(JSON.stringify(change(JSON.parse(text.toString()))));
    delete headers['content-encoding'];
  });

const inBook = (start: string, change: (book: Book) => object) =>
  inEnvelope(start, (envelope) => {
    const book = envelope.data as Book | null;
    return { ...envelope, data: book && { ...book, ...change(book) } };
  });

const inList = (change: (books: Book[]) => Book[]) =>
  inEnvelope('GET /books', (envelope) => ({ ...envelope, data: envelope.data && change(envelope.data as Book[]) }));

/** Changes a header where there is one. */
const inHeader = (start: string, name: string, change: (value: string) => string) =>
  inResponse(start, ({ headers }) => {
    if (headers[name] !== undefined) headers[name] = change(String(headers[name]));
  });

const withoutHeader = (start: string, name: string) =>
  inResponse(start, ({ headers }) => {
    delete headers[name];
  });

/** Hides a header of requests from the service. */
const ignores = (name: string) =>
  inRequest(({ sent }) => {
    delete sent[name];
  });

/** Changes the tokens of requests. */
const inToken = (change: (token: string) => string) =>
  inRequest(({ sent }) => {
    if (sent.authorization !== undefined) sent.authorization = change(sent.authorization);
  });

const inKey = (change: (key: string) => string | undefined) =>
  inRequest(({ sent }) => {
    const key = change(String(sent['idempotency-key'] ?? ''));
    if (key === undefined) delete sent['idempotency-key'];
    else if (sent['idempotency-key'] !== undefined) sent['idempotency-key'] = key;
  });

/** Leaves out a wrong member of the bodies of the requests that begin so. */
const accepts = (start: string, member: string) =>
  inRequest((exchange) => {
    const text = exchange.sentBody.toString('latin1');
    if (begins(exchange, start)) exchange.sentBody = Buffer.from(text.replace(member, ignoredMember), 'latin1');
  });

/** Carries out a request with a wrong member as if it were right, and refuses it nevertheless. */
const carriesOut = (member: string): Fault => ({
  ...accepts('', member),
  after: (exchange) => {
    if (exchange.sentBody.includes(ignoredMember)) Object.assign(exchange, makeResponse(invalidInput));
  },
});

/** Takes a request without a token for one with a valid one. */
const asksForNoToken = inRequest(({ sent }) => {
  sent.authorization ??= validToken;
});

/** Sends a further request to the service with each one that begins so. */
const alsoSends = (start: string, change: (exchange: Exchange) => Partial<Exchange>): Fault => ({
  before: async (exchange) => {
    if (begins(exchange, start)) await forward({ ...exchange, ...change(exchange) });
    return undefined;
  },
});

/** Refuses the requests that begin so and have a header. */
const refusesWith = (name: string, start: string, refusal: Envelope): Fault => ({
  before: (exchange) => (begins(exchange, start) && exchange.sent[name] !== undefined ? refusal : undefined),
});

/** Has a success where there is a failure. */
const succeeds = (start: string, success: Envelope, headers: IncomingHttpHeaders = {}) =>
  inResponse(start, (exchange) => {
    if (exchange.status >= 400) Object.assign(exchange, makeResponse(success));
    Object.assign(exchange.headers, headers);
  });

/** Compresses lists: those that the service has compressed, or the others. */
const compresses = (isCompressed: boolean, encode: (body: Buffer) => Buffer) =>
  inResponse('GET /books', (exchange) => {
    const isCoded = exchange.headers['content-encoding'] === 'gzip';
    if (isCoded !== isCompressed) return;
    exchange.body = encode(isCoded ? gunzipSync(exchange.body) : exchange.body);
    exchange.headers['content-encoding'] = 'gzip';
  });

const claimsOf = (token: string): { readonly exp?: number } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Refuses a key that was used before, unless the body is the same text. */
function comparesTexts(): Fault {
  const bodies = new Map<unknown, string>();
  return {
    before: ({ sent, sentBody }) => {
      const key = sent['idempotency-key'] ?? {};
      const first = bodies.get(key) ?? sentBody.toString();
      bodies.set(key, first);
      return first === sentBody.toString() ? undefined : keyUsed;
    },
  };
}

/** Takes the key of a refused request for a used one. */
function keepsKeysOfRefused(): Fault {
  const keys = new Set<unknown>();
  return {
    before: ({ sent }) => (keys.has(sent['idempotency-key']) ? keyUsed : undefined),
    after: ({ sent, status }) => {
      if (status >= 400 && sent['idempotency-key'] !== undefined) keys.add(sent['idempotency-key']);
    },
  };
}

/** Shows in a replay what has become of the book. */
function replaysChanges(): Fault {
  let changes = {};
  const inReplay = inBook('POST /book', () => changes);
  return {
    before: ({ method, sentBody }) => {
      if (method === 'PUT') changes = JSON.parse(sentBody.toString());
      return undefined;
    },
    after: (exchange) => {
      if (exchange.headers['idempotency-replayed'] !== undefined) inReplay.after?.(exchange);
    },
  };
}

const byteOrderMark = Buffer.from('\ufeff');
const ignoredMember = '"id":0';
const badRequest = { status: 400, message: 'Bad request', data: null };
const invalidInput = { status: 400, message: 'Invalid input', data: null };
const keyUsed = { status: 422, message: 'Idempotency key already used', data: null };
const preconditionFailed = { status: 412, message: 'Precondition failed', data: null };
const deleted = { status: 200, message: 'Book deleted successfully', data: null };
const loggedIn = { status: 200, message: 'Token generated successfully', data: { token: validToken } };
const updated = { status: 200, message: 'Book updated successfully', data: { ...aBook(), id: 1 } };
const created = { status: 201, message: 'Book created successfully', data: { ...aBook(), id: 1 } };
const createdHeaders = { etag: '"a"', location: '/book/1' };

const envelopeFaults: readonly [fault: string, rule: string, fault: Fault, problem: string | RegExp][] = [
  [
    'has another status in the body',
    '10.2',
    inEnvelope('DELETE', (it) => ({ ...it, status: 400 })),
    'has the status 400',
  ],
  ['has another message', '10.2', inEnvelope('DELETE', (it) => ({ ...it, message: 'x' })), 'and the message x'],
  [
    'adds a member to the envelope',
    '10.2',
    inEnvelope('DELETE', (it) => ({ ...it, error: {} })),
    'NOT have additional',
  ],
  ['has data in a failure', '3.5', inEnvelope('GET /book/', (it) => ({ ...it, data: {} })), '/data must be'],
  ['names a character set', '10.2', inHeader('GET', 'content-type', (it) => `${it}; charset=utf-8`), 'Content-Type is'],
  [
    'begins a body with a byte order mark',
    '8.1',
    inResponse('GET', (it) => {
      it.body = Buffer.concat([byteOrderMark, it.body]);
    }),
    'the body  must be object',
  ],
  ['has responses without an id', '1.9', withoutHeader('GET', 'x-amzn-requestid'), 'the header x-amzn-RequestId'],
  [
    'takes an unknown path for a malformed one',
    '1.6',
    inResponse('', (it) => {
      if (it.body.includes('"Not found"')) Object.assign(it, makeResponse(badRequest));
    }),
    /^GET \/\n[\s\S]*- +status: 404/,
  ],
  ['gives all responses one id', '1.9', inHeader('', 'x-amzn-requestid', () => 'an id'), 'the ids differ'],
];

const bookFaults: typeof envelopeFaults = [
  ['gives an id twice', '3.2', inBook('POST /book', () => ({ id: 1 })), 'the id of the next book is above 1, got 1'],
  ['gives ids as texts', '3.2', inBook('POST /book', ({ id }) => ({ id: `${id}` })), '/data/id must be integer'],
  ['returns unknown fields', '2.4', inBook('POST /book', () => ({ unknown: 'x' })), '/data must NOT have additional'],
  [
    'alters texts',
    '3.3',
    inBook('GET /book/', ({ title }) => ({ title: title.trim() })),
    /^GET .*, data\n[\s\S]*\+ +title/,
  ],
  [
    'rounds',
    '3.4',
    inBook('GET /book/', ({ year }) => ({ year: Math.fround(year) })),
    /^GET .*, data\n[\s\S]*\+ +year/,
  ],
  ['leads to another book', '6.5', inHeader('POST', 'location', (path) => `${path}0`), 'where Location leads'],
  [
    'carries out no update',
    '9.3',
    inRequest((it) => {
      if (it.method === 'PUT') it.sentBody = Buffer.from('{}');
    }),
    /^PUT .*, data\n[\s\S]*\+ +title: 'Dune'/,
  ],
  ['replaces a book', '9.3', inBook('PUT', () => ({ author: '' })), /^PUT .*, data\n[\s\S]*\+ +author: ''/],
  [
    'deletes nothing',
    '10.1',
    { before: ({ method }) => (method === 'DELETE' ? deleted : undefined) },
    /^GET [\s\S]*\+ +status: 200/,
  ],
  ['deletes a book twice', '10.2', succeeds('DELETE', deleted), /^DELETE [\s\S]*\+ +status: 200/],
  [
    'finds a book under an id with a zero before it',
    '3.5',
    inRequest((it) => {
      it.path = it.path.replace(/^(\/book\/)0+(?=\d)/, '$1');
    }),
    /^PUT .book.0[\s\S]*\+ +status: 200/,
  ],
];

const bodyFaults: typeof envelopeFaults = [
  [
    'counts the first of two members',
    '2.5',
    inRequest((it) => {
      it.sentBody = Buffer.from(it.sentBody.toString().replace('"title":"a","title":"b"', '"title":"a"'));
    }),
    /^the created book[\s\S]*\+ +title: 'a'/,
  ],
  ['accepts a wrong type in a create', '2.3', accepts('POST', '"year":"x"'), /^POST [\s\S]*\+ +status: 201/],
  ['accepts a wrong type in an update', '2.3', accepts('PUT', '"year":"x"'), /^PUT [\s\S]*\+ +status: 200/],
  ['stores a book that it refuses', '6.1', carriesOut('"title":null'), 'books by "refused '],
  [
    'changes a book and refuses the change',
    '9.2',
    carriesOut('"year":"x"'),
    /^GET .*, data\n[\s\S]*\+ +title: 'changed'/,
  ],
  ['updates a missing book', '9.1', succeeds('PUT', updated, { etag: '"a"' }), /^PUT [\s\S]*\+ +status: 200/],
  [
    'updates another book as well',
    '9.3',
    alsoSends('PUT', ({ path }) => ({ path: `/book/${Number(path.slice('/book/'.length)) + 1}` })),
    /^GET .*, data\n/,
  ],
  [
    'loses one of several updates',
    '9.4',
    inRequest((it) => {
      if (it.method === 'PUT' && it.sentBody.includes('{"author"')) it.sentBody = Buffer.from('{}');
    }),
    /^GET .*, data\n[\s\S]*\+ +author: 'Frank Herbert'/,
  ],
  ['shows a part of an update', '9.5', inBook('GET /book/', () => ({ author: 'x' })), 'are those of one update'],
  ['deletes a book as often as it is told', '10.3', succeeds('DELETE', deleted), /^DELETE [\s\S]*\+ +status: 200/],
];

const listFaults: typeof envelopeFaults = [
  ['lists books in descending order', '3.7', inList((books) => books.toReversed()), 'the ids of a list ascend'],
  ['leaves out the last book of a list', '3.7', inList((books) => books.slice(0, -1)), 'own books in the list'],
  ['lists a book twice', '3.7', inList((books) => [...books, ...books.slice(-1)]), 'the ids of a list ascend'],
  ['leaves out a book from pages of three', '7.3', inList((books) => books.toSpliced(2, 1)), 'only at the end, got 2'],
  [
    'links to another page than the next',
    '7.4',
    inResponse('GET /books?', ({ headers }) => {
      headers.link = '<?limit=1000&after=1>; rel="next"';
    }),
    'limit and after in the link',
  ],
  ['ends the pages with the first', '7.3', withoutHeader('GET /books', 'link'), 'own books on the pages'],
  [
    'has links with paths',
    '7.3',
    inHeader('GET /books', 'link', (link) => link.replace('<', '</books')),
    'header Link',
  ],
  [
    'ignores where a list starts',
    '7.5',
    inRequest((it) => {
      it.path = it.path.replace(/after=\d+/, '');
    }),
    'own books of the list after',
  ],
  [
    'ignores a limit that is not a number',
    '7.6',
    inRequest((it) => {
      it.path = it.path.replace(/limit=(?!\d)[^&]*/, '');
    }),
    /^GET .books.limit=[\s\S]*\+ +status: 200/,
  ],
  ['lets caches keep lists', '7.7', withoutHeader('GET /books', 'cache-control'), 'the header Cache-Control'],
  ['compresses for everybody', '1.7', compresses(false, (body) => gzipSync(body)), 'is identity, got gzip'],
  [
    'compresses into two frames',
    '1.7',
    compresses(true, (body) => Buffer.concat([gzipSync(body), gzipSync('')])),
    'the body  must be object',
  ],
];

const tokenFaults: typeof envelopeFaults = [
  ['asks for no token', '4.2', asksForNoToken, /^POST [\s\S]*\+ +status: 201/],
  [
    'has public endpoints that openapi.yaml does not list as public',
    '4.1',
    asksForNoToken,
    'answers 400 without a token',
  ],
  [
    'carries out a create and asks for a token',
    '4.2',
    alsoSends('POST /book', ({ sent }) => ({ sent: { ...sent, authorization: validToken } })),
    'books by "refused ',
  ],
  [
    'takes a token from the query',
    '4.3',
    inRequest(({ path, sent }) => {
      if (/[?&]\w+=ey/.test(path)) sent.authorization = validToken;
    }),
    /^GET .book[\s\S]*- +status: 401/,
  ],
  [
    'names a scheme that clients know',
    '4.9',
    inHeader('', 'www-authenticate', () => 'Bearer'),
    'the status and the challenge',
  ],
  ['knows schemes', '4.5', inToken((text) => text.replace(/^\w+ /, '')), /^GET [\s\S]*- +message: 'Invalid token'/],
  ['accepts tokens of no method', '4.5', inToken(() => validToken), /^GET [\s\S]*- +message: 'Invalid token'/],
  ['accepts expired tokens', '4.6', inToken(() => validToken), /^GET [\s\S]*- +message: 'Invalid token'/],
  [
    'refuses tokens without an expiry',
    '4.7',
    inToken((token) => (claimsOf(token).exp === undefined ? 'nonsense' : token)),
    /^GET [\s\S]*\+ +message: 'Invalid token'/,
  ],
  [
    'gives tokens for an hour',
    '5.5',
    inEnvelope('POST /token', (envelope) => {
      const { exp = 0 } = claimsOf((envelope.data as { token: string }).token);
      return { ...envelope, data: { token: forgeToken({ claims: { exp: exp + 2_700 }, secret }) } };
    }),
    /^exp is \d+.*, give or take 10, got /,
  ],
  [
    'accepts any password',
    '5.2',
    succeeds('POST /token', loggedIn, { 'cache-control': 'no-store' }),
    /^POST .token [\s\S]*- +message: 'Invalid credentials'/,
  ],
];

const headerFaults: typeof envelopeFaults = [
  ['ignores If-None-Match', '12.2', ignores('if-none-match'), 'the 304 without a body'],
  ['ignores If-Match', '12.3', ignores('if-match'), /^PUT [\s\S]*- +status: 412/],
  ['has another tag after a change', '12.1', inHeader('PUT', 'etag', () => '"a"'), 'the tag'],
  ['has weak tags', '12.1', inHeader('', 'etag', (tag) => `W/${tag}`), 'the header ETag'],
  [
    'has another tag in a 304',
    '12.2',
    inResponse('GET', ({ status, headers }) => {
      if (status === 304) headers.etag = '"a"';
    }),
    'the 304 without a body',
  ],
  ['lets caches keep books', '12.1', inHeader('GET /book/', 'cache-control', () => 'max-age=60'), 'max-age=60'],
  ['ignores keys', '11.3', ignores('idempotency-key'), /^POST .*, data\n[\s\S]*\+ +id/],
  ['compares the bodies of a key as texts', '11.4', comparesTexts(), /^POST [\s\S]*\+ +status: 422/],
  [
    'makes a second book with a key, and shows the first',
    '11.3',
    alsoSends('POST /book', ({ sent: { 'idempotency-key': _key, ...sent } }) => ({ sent })),
    'books by "once ',
  ],
  ['shows a later change in a replay', '11.5', replaysChanges(), /^POST .*, data\n[\s\S]*\+ +title: 'changed'/],
  ['keeps the key of a refused request', '11.7', keepsKeysOfRefused(), /^POST [\s\S]*\+ +status: 422/],
  [
    'refuses an update of a missing book by its tag',
    '12.4',
    refusesWith('if-match', 'PUT /book/9007', preconditionFailed),
    /^PUT [\s\S]*\+ +status: 412/,
  ],
  ['marks no replay', '11.2', withoutHeader('POST', 'idempotency-replayed'), 'the headers of a replay'],
  [
    'accepts a used key for other fields',
    '11.6',
    succeeds('POST /book', created, createdHeaders),
    /^POST [\s\S]*- +message: 'Idempotency key already used'/,
  ],
  [
    'accepts an empty key',
    '11.1',
    inKey((key) => key || undefined),
    /^POST [\s\S]*- +message: 'Invalid idempotency key'/,
  ],
  ['reads keys without their case', '11.1', inKey((key) => key.toLowerCase()), 'Idempotency-Replayed at first'],
];

const originFaults: typeof envelopeFaults = [
  [
    'permits preflight requests of every origin',
    '13.2',
    { before: ({ method }) => (method === 'OPTIONS' ? { status: 200, message: '', data: null } : undefined) },
    /^OPTIONS [\s\S]*\+ +status: 200/,
  ],
  [
    'lets every origin read its responses',
    '13.3',
    inResponse('GET', ({ headers }) => {
      headers['access-control-allow-origin'] = '*';
    }),
    'the headers of /books',
  ],
];

const faults = [envelopeFaults, bookFaults, bodyFaults, listFaults, tokenFaults, headerFaults, originFaults].flat();

test.each(faults)(
  'a service that %s fails a case of rule %s, which says so',
  async (_fault, rule, planted, problem) => {
    fault = planted;

    const message = await findFailure(rule);

    expect(message).toMatch(problem);
  },
);

test.each([
  ['13.2', 'the permission'],
  ['13.3', 'the headers of /books'],
])('a service without the origin of the run fails a case of rule %s, which says so', async (rule, problem) => {
  fault = {};
  const configured = new Session({ baseUrl, username, password, corsOrigin: 'https://docs.example.com' });
  onTestFinished(() => configured.close());

  expect(await findFailure(rule, configured)).toContain(problem);
});

/** Runs the cases of a rule until one fails, except those that make hundreds of books. @returns its message */
async function findFailure(rule: string, of = session): Promise<string | undefined> {
  for (const { run, rules, group } of conformanceCases) {
    const isLong = group === 'concurrency' && (rules.includes('7.1') || rules.includes('7.2'));
    if (!rules.includes(rule) || isLong) continue;
    try {
      await run(of);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}
