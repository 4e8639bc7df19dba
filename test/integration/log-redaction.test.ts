import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { captureLog } from '../support/captured-log.ts';
import { forgeToken } from '../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

/**
 * What the database answers. The texts of its errors are logged, because they name the role, the table or the limit
 * that an operator has to look at; DynamoDB puts no values of items into them.
 */
const storageModes = ['found', 'missing', 'refuses', 'fails', 'garbage', 'cut off', 'wrong type'] as const;
type StorageMode = (typeof storageModes)[number];

/** Retries of the SDK wait between attempts. */
const propertyTimeoutMs = 120_000;

let storage: Server;
let mode: StorageMode;
let stored: string;
let call: Call;

beforeEach(async () => {
  mode = 'missing';
  stored = 'nothing yet';
  storage = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { status, text } = answerOf(mode, body, stored);
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(storage, 'listening');
  captureLog();
  call = await loadHandlers(`http://127.0.0.1:${(storage.address() as AddressInfo).port}/books`);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  storage.closeAllConnections();
  await new Promise((resolve) => storage.close(resolve));
});

const routes = [
  ['POST', '/token'],
  ['POST', '/book'],
  ['GET', '/books'],
  ['GET', '/book/1'],
  ['PUT', '/book/1'],
  ['DELETE', '/book/1'],
  ['GET', '/book/{planted}'],
] as const;

const situation = fc.record({
  route: fc.constantFrom(...routes),
  storageMode: fc.constantFrom(...storageModes),
  token: fc.constantFrom('valid', 'expired', 'foreign', 'none', 'nonsense'),
  body: fc.constantFrom('book', 'credentials', 'wrong type', 'no JSON', 'no UTF-8'),
  base64: fc.boolean(),
});

type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never;

/** Situations that lead to every status, which random ones may miss. */
const everyStatus = (
  [
    ['POST', '/book', 'found', 'valid', 'book'],
    ['GET', '/book/1', 'found', 'valid', 'book'],
    ['POST', '/book', 'found', 'valid', 'no JSON'],
    ['GET', '/book/1', 'found', 'none', 'book'],
    ['GET', '/book/1', 'missing', 'valid', 'book'],
    ['GET', '/book/1', 'refuses', 'valid', 'book'],
    ['GET', '/book/1', 'fails', 'valid', 'book'],
  ] as const
).map(([method, path, storageMode, token, body]): [Situation] => [
  { route: [method, path] as (typeof routes)[number], storageMode, token, body, base64: true },
]);

test('nothing that a client sent or that is stored reaches the log, wherever it was and however the request ended', {
  timeout: propertyTimeoutMs,
}, async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(situation, async ({ route: [method, path], storageMode, token, body, base64 }) => {
      const planted = `zq${randomBytes(6).toString('hex')}`;
      const sentToken = makeToken(token, planted);
      const sentBody = makeBody(body, planted);
      const log = captureEverything();
      mode = storageMode;
      stored = planted;

      const { status } = await call(method, path.replace('{planted}', planted), {
        ...plantEverywhere(planted, sentToken),
        body: base64 ? sentBody.toString('base64') : sentBody.toString('latin1'),
        isBase64Encoded: base64,
      });

      seen.add(status);
      expect(log.text).toContain('"message":"request"');
      // An excerpt is one too many as well.
      const secrets = [
        planted.slice(0, 8),
        settings.SECRET_TOKEN,
        settings.AUTH_PASSWORD,
        sentBody.toString('base64'),
      ];
      for (const secret of [...secrets, ...sentToken.split('.')]) {
        if (secret !== '') expect(log.text).not.toContain(secret);
      }
    }),
    { numRuns: 400, examples: everyStatus },
  );

  // The situations are worth something only as long as they lead everywhere.
  expect([...seen].sort()).toEqual([200, 201, 400, 401, 404, 500, 503]);
});

function makeToken(kind: string, planted: string): string {
  const { SECRET_TOKEN: secret } = settings;
  if (kind === 'valid') return forgeToken({ claims: { planted }, secret });
  if (kind === 'expired') return forgeToken({ claims: { planted, exp: 1 }, secret });
  if (kind === 'foreign') return forgeToken({ header: { alg: planted }, claims: { planted }, secret });
  return kind === 'none' ? '' : planted;
}

function makeBody(kind: string, planted: string): Buffer {
  if (kind === 'book') return Buffer.from(JSON.stringify({ title: planted, author: planted, [planted]: 1 }));
  if (kind === 'credentials') {
    return Buffer.from(JSON.stringify({ username: settings.AUTH_USERNAME, password: planted }));
  }
  if (kind === 'wrong type') {
    return Buffer.from(JSON.stringify({ title: [planted], password: { planted }, year: planted }));
  }
  return kind === 'no JSON' ? Buffer.from(planted) : Buffer.from(`{"title":"${planted}\xff"}`, 'latin1');
}

/** Every member of an event that comes from the client; what the gateway makes up is left as it is. */
function plantEverywhere(planted: string, token: string): Partial<APIGatewayProxyEvent> {
  const headers = {
    Authorization: token,
    Cookie: planted,
    [planted]: planted,
    Host: planted,
    Referer: planted,
  };
  // Of several headers of a name the last one counts.
  const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [planted, value]]));
  return {
    path: `/${planted}`,
    headers,
    multiValueHeaders: lists,
    queryStringParameters: { token: planted, [planted]: planted },
    multiValueQueryStringParameters: { token: [planted], [planted]: [planted] },
    stageVariables: { planted },
    requestContext: {
      requestId: 'gateway-request-id',
      path: `/${planted}`,
      domainName: planted,
      authorizer: { principalId: planted, claims: planted },
      identity: { sourceIp: planted, userAgent: planted, user: planted, cognitoIdentityId: planted },
    } as never,
  };
}

/** Standard output and standard error, as Lambda sends both to the log. */
function captureEverything(): { readonly text: string } {
  vi.restoreAllMocks();
  const out = captureLog();
  let errors = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    errors += chunk;
    return true;
  });
  return {
    get text() {
      return out.text + errors;
    },
  };
}

function answerOf(storageMode: StorageMode, body: string, planted: string): { status: number; text: string } {
  const text = { S: planted };
  const item = {
    shard: { N: '0' },
    id: { N: '1' },
    title: text,
    author: text,
    year: { N: '1' },
    lastId: { N: '1' },
  };
  switch (storageMode) {
    case 'found':
      return { status: 200, text: JSON.stringify({ Item: item, Attributes: item, Items: [item], Count: 1 }) };
    case 'missing':
      return body.includes('ConditionExpression')
        ? refusal('ConditionalCheckFailedException', 'The conditional request failed')
        : { status: 200, text: '{}' };
    case 'refuses':
      return refusal('ValidationException', 'One or more parameter values were invalid');
    case 'fails':
      return { ...refusal('InternalServerError', 'The request could not be processed'), status: 500 };
    case 'garbage':
      return { status: 200, text: `${planted} ${body}` };
    case 'cut off':
      return { status: 200, text: JSON.stringify({ Item: item }).slice(0, -3) };
    case 'wrong type':
      return {
        status: 200,
        text: JSON.stringify({ Item: { ...item, year: { N: planted } }, Items: [planted] }),
      };
  }
}

function refusal(name: string, message: string): { status: number; text: string } {
  return {
    status: 400,
    text: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message }),
  };
}
