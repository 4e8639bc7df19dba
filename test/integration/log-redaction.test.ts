import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { close, listen } from '../simulators/loopback-server.ts';
import { captureLog } from '../support/captured-log.ts';
import { forgeToken } from '../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

/** Retries of the SDK wait between attempts. */
const timeout = 60_000;

/** What a database sends, with a planted text in each value, that a request consists of. */
type Respond = (planted: string, body: string) => { readonly status: number; readonly text: string };

const itemWith = (planted: string) => ({
  ...{ shard: { N: '0' }, id: { N: '1' }, year: { N: '1' }, lastId: { N: '1' } },
  ...{ title: { S: planted }, author: { S: planted } },
});
const found = (planted: string) => {
  const item = itemWith(planted);
  return { status: 200, text: JSON.stringify({ Item: item, Attributes: item, Items: [item], Count: 1 }) };
};
const refusal = (status: number, name: string) => ({
  status,
  text: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'fixed text' }),
});

/**
 * The texts of the database's errors are logged: they name the role, the table or the limit that an operator has to look
 * at; DynamoDB puts no values of items into them.
 */
const storages: Readonly<Record<string, Respond>> = {
  found,
  missing: (_planted, body) =>
    body.includes('ConditionExpression')
      ? refusal(400, 'ConditionalCheckFailedException')
      : { status: 200, text: '{}' },
  refuses: () => refusal(400, 'ValidationException'),
  fails: () => refusal(500, 'InternalServerError'),
  garbage: (planted, body) => ({ status: 200, text: `${planted} ${body}` }),
  'cut off': (planted) => ({ status: 200, text: found(planted).text.slice(0, -3) }),
  'wrong type': (planted) => ({
    status: 200,
    text: JSON.stringify({ Item: { ...itemWith(planted), year: { N: planted } }, Items: [planted] }),
  }),
};

const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = settings;

const tokens: Readonly<Record<string, (planted: string) => string>> = {
  valid: (planted) => forgeToken({ claims: { planted }, secret }),
  expired: (planted) => forgeToken({ claims: { planted, exp: 1 }, secret }),
  foreign: (planted) => forgeToken({ header: { alg: planted }, claims: { planted }, secret }),
  none: () => '',
  nonsense: (planted) => planted,
};

const bodies: Readonly<Record<string, (planted: string) => string | Buffer>> = {
  book: (planted) => JSON.stringify({ title: planted, author: planted, [planted]: 1 }),
  credentials: (planted) => JSON.stringify({ username, password: planted }),
  'wrong type': (planted) => JSON.stringify({ title: [planted], password: { planted }, year: planted }),
  'no JSON': (planted) => planted,
  'no UTF-8': (planted) => Buffer.from(`{"title":"${planted}\xff"}`, 'latin1'),
};

let respond: () => ReturnType<Respond>;
let receivedBody = '';
let storage: Server;
let call: Call;

beforeEach(async () => {
  respond = () => found('nothing yet');
  storage = createServer(async (request, response) => {
    receivedBody = Buffer.concat(await request.toArray()).toString();
    const { status, text } = respond();
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
  });
  captureLog();
  call = await loadHandlers(`http://127.0.0.1:${await listen(storage)}/books`);
});

afterEach(() => close(storage));

const situation = fc.record({
  route: fc.constantFrom(
    ...[
      'POST /token',
      'POST /book',
      'GET /books',
      'GET /book/1',
      'PUT /book/1',
      'DELETE /book/1',
      'GET /book/{planted}',
    ],
  ),
  storage: fc.constantFrom(...Object.keys(storages)),
  token: fc.constantFrom(...Object.keys(tokens)),
  body: fc.constantFrom(...Object.keys(bodies)),
});

/** Situations that lead to every status, which random ones may miss. */
const everyStatus = [
  'POST /book, found, valid, book',
  'GET /book/1, found, valid, book',
  'POST /book, found, valid, no JSON',
  'GET /book/1, found, none, book',
  'GET /book/1, missing, valid, book',
  'GET /book/1, refuses, valid, book',
  'GET /book/1, fails, valid, book',
].map((line): [{ route: string; storage: string; token: string; body: string }] => {
  const [route = '', storage = '', token = '', body = ''] = line.split(', ');
  return [{ route, storage, token, body }];
});

test('nothing that a client sent or that is stored reaches the log, wherever it was and however the request ended', {
  timeout,
}, async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(situation, async (names) => {
      const planted = `zq${randomBytes(6).toString('hex')}`;
      const token = tokens[names.token]?.(planted) ?? '';
      const body = Buffer.from(bodies[names.body]?.(planted) ?? '').toString('base64');
      const [method = '', path = ''] = names.route.replace('{planted}', planted).split(' ');
      respond = () => storages[names.storage]?.(planted, receivedBody) ?? { status: 200, text: '{}' };
      vi.restoreAllMocks();
      const log = captureLog();

      const { status } = await call(method, path, {
        ...plantEverywhere(planted, token),
        body,
        isBase64Encoded: true,
      });

      seen.add(status);
      expect(log.text).toContain('"message":"request"');
      // An excerpt is one too many as well.
      for (const text of [planted.slice(0, 8), secret, password, body, ...token.split('.')]) {
        if (text !== '') expect(log.text).not.toContain(text);
      }
    }),
    { numRuns: 250, examples: everyStatus },
  );

  // The situations are worth something only as long as they lead everywhere.
  expect([...seen].sort()).toEqual([200, 201, 400, 401, 404, 500, 503]);
});

/** Every member of an event that comes from the client; what the gateway makes up is left as it is. */
function plantEverywhere(planted: string, token: string): Partial<APIGatewayProxyEvent> {
  const names = ['Cookie', planted, 'Host', 'Referer'];
  const headers = { Authorization: token, ...Object.fromEntries(names.map((name) => [name, planted])) };
  const identity = { sourceIp: planted, userAgent: planted, user: planted, cognitoIdentityId: planted };
  return {
    path: `/${planted}`,
    headers,
    // Of several headers of a name the last one counts.
    multiValueHeaders: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [planted, value]]),
    ),
    queryStringParameters: { token: planted, [planted]: planted },
    multiValueQueryStringParameters: { token: [planted], [planted]: [planted] },
    stageVariables: { planted },
    requestContext: {
      requestId: 'gateway-request-id',
      path: `/${planted}`,
      domainName: planted,
      authorizer: { principalId: planted, claims: planted },
      identity,
    } as never,
  };
}
