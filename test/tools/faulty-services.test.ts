import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Book } from '../../conformance/catalog.ts';
import { Session } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
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

/** Changes the headers of the responses to the requests that begin so. */
const inHeaders = (start: string, change: (headers: IncomingHttpHeaders) => void) =>
  inResponse(start, ({ headers }) => change(headers));

/** Leaves out a wrong member of the bodies of the requests that begin so. */
const accepts = (start: string, member: string) =>
  inRequest((exchange) => {
    const text = exchange.sentBody.toString('latin1');
    if (begins(exchange, start)) exchange.sentBody = Buffer.from(text.replace(member, ignoredMember), 'latin1');
  });

/** Sends a further request to the service with each one that begins so. */
const alsoSends = (start: string, change: (exchange: Exchange) => Partial<Exchange>): Fault => ({
  before: async (exchange) => {
    if (begins(exchange, start)) await forward({ ...exchange, ...change(exchange) });
    return undefined;
  },
});

const ignoredMember = '"id":0';
const invalidInput = { status: 400, message: 'Invalid input', data: null };
const deleted = { status: 200, message: 'Book deleted successfully', data: null };

/** Some faults for each group of cases. */
const faults: readonly [fault: string, rule: string, fault: Fault, problem: string | RegExp][] = [
  ['has another message', '10.2', inEnvelope('DELETE', (it) => ({ ...it, message: 'x' })), 'and the message x'],
  [
    'gives all responses one id',
    '1.9',
    inHeaders('', (headers) => {
      headers['x-amzn-requestid'] = 'an id';
    }),
    'the ids differ',
  ],
  ['gives an id twice', '3.2', inBook('POST /book', () => ({ id: 1 })), 'the id of the next book is above 1, got 1'],
  [
    'alters texts',
    '3.3',
    inBook('GET /book/', ({ title }) => ({ title: title.trim() })),
    /^GET .*, data\n[\s\S]*\+ +title/,
  ],
  [
    'deletes nothing',
    '10.1',
    { before: ({ method }) => (method === 'DELETE' ? deleted : undefined) },
    /^GET [\s\S]*\+ +status: 200/,
  ],
  ['accepts a wrong type in an update', '2.3', accepts('PUT', '"year":"x"'), /^PUT [\s\S]*\+ +status: 200/],
  [
    'stores a book that it refuses',
    '6.1',
    {
      ...accepts('', '"title":null'),
      after: (exchange) => {
        if (exchange.sentBody.includes(ignoredMember)) Object.assign(exchange, makeResponse(invalidInput));
      },
    },
    'books by "refused ',
  ],
  [
    'updates another book as well',
    '9.3',
    alsoSends('PUT', ({ path }) => ({ path: `/book/${Number(path.slice('/book/'.length)) + 1}` })),
    /^GET .*, data\n/,
  ],
  ['shows a part of an update', '9.5', inBook('GET /book/', () => ({ author: 'x' })), 'are those of one update'],
  [
    'leaves out the last book of a list',
    '3.7',
    inEnvelope('GET /books', (envelope) => ({ ...envelope, data: (envelope.data as Book[] | null)?.slice(0, -1) })),
    'own books in the list',
  ],
  [
    'ends the pages with the first',
    '7.3',
    inHeaders('GET /books', (headers) => {
      delete headers.link;
    }),
    'own books on the pages',
  ],
  [
    'ignores filters',
    '7.9',
    inRequest((it) => {
      it.path = it.path.replace(/(title|author|year)=[^&]*/g, '');
    }),
    'the books found',
  ],
  [
    'carries out a create and asks for a token',
    '4.2',
    alsoSends('POST /book', ({ sent }) => ({ sent: { ...sent, authorization: validToken } })),
    'books by "refused ',
  ],
  [
    'accepts expired tokens',
    '4.6',
    inRequest(({ sent }) => {
      if (sent.authorization !== undefined) sent.authorization = validToken;
    }),
    /^GET [\s\S]*- +message: 'Invalid token'/,
  ],
  [
    'gives tokens without an expiry',
    '5.5',
    inEnvelope('POST /token', (envelope) => ({ ...envelope, data: { token: validToken } })),
    'the claims',
  ],
  [
    'ignores If-Match',
    '12.3',
    inRequest(({ sent }) => {
      delete sent['if-match'];
    }),
    /^PUT [\s\S]*- +status: 412/,
  ],
  [
    'has another tag in a 304',
    '12.2',
    inResponse('GET', ({ status, headers }) => {
      if (status === 304) headers.etag = '"a"';
    }),
    'the 304 without a body',
  ],
  [
    'makes a second book with a key, and shows the first',
    '11.3',
    alsoSends('POST /book', ({ sent: { 'idempotency-key': _key, ...sent } }) => ({ sent })),
    'books by "once ',
  ],
  [
    'lets every origin read its responses',
    '13.3',
    inHeaders('GET', (headers) => {
      headers['access-control-allow-origin'] = '*';
    }),
    'the headers of /books',
  ],
];

test.each(faults)(
  'a service that %s fails a case of rule %s, which says so',
  async (_fault, rule, planted, problem) => {
    fault = planted;

    const message = await findFailure(rule);

    expect(message).toMatch(problem);
  },
);

test('a service without the origin of the run fails a case of rule 13.2, which says so', async () => {
  fault = {};
  const configured = new Session({ baseUrl, username, password, corsOrigin: 'https://docs.example.com' });
  onTestFinished(() => configured.close());

  expect(await findFailure('13.2', configured)).toContain('the permission');
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
