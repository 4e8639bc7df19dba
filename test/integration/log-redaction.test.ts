import { randomBytes } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { forgeToken } from '../../conformance/forge-token.ts';
import { startScriptedDatabase } from '../fakes/scripted-database.ts';
import { captureLog } from '../support/captured-log.ts';
import { loadHandlers } from '../support/load-handlers.ts';
import { testSettings } from '../support/local-service.ts';

/** What a database sends, with a planted text in each value, that a request consists of. */
type Respond = (planted: string, body: string) => { readonly status: number; readonly text: string };

const respondWith = (status: number, body: object) => ({ status, text: JSON.stringify(body) });
const found = (planted: string, body = '{}', year: object = { N: '1' }) => {
  const key = JSON.parse(body).Key ?? { shard: { N: '0' }, id: { N: '1' } };
  const item = { ...key, lastId: { N: '1' }, title: { S: planted }, author: { S: planted }, year };
  return respondWith(200, { Item: item, Attributes: item, Items: [item], Count: 1 });
};
const refusal = (status: number, name: string, message = 'fixed text') =>
  respondWith(status, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message });

/**
 * The texts of the database's errors are logged: they name the role, the table or the limit that an operator has to look
 * at. DynamoDB puts no values of items into them, except into those of a ValidationException.
 */
const storages = {
  found,
  missing: (_planted, body) =>
    body.includes('ConditionExpression') ? refusal(400, 'ConditionalCheckFailedException') : respondWith(200, {}),
  refuses: (planted) => refusal(400, 'ValidationException', `One value was invalid: Value '${planted}' at 'title'`),
  fails: () => refusal(500, 'InternalServerError'),
  garbage: (planted, body) => ({ status: 200, text: `${planted} ${body}` }),
  'cut off': (planted) => ({ status: 200, text: found(planted).text.slice(0, -3) }),
  'no number': (planted, body) => found(planted, body, { N: planted }),
  'no item': (planted) => respondWith(200, { Item: planted, Attributes: planted, Items: [planted], Count: 1 }),
  'wrong type': (planted, body) => found(planted, body, { S: planted }),
} satisfies Record<string, Respond>;

const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;

const tokens = {
  valid: (planted) => forgeToken({ claims: { planted }, secret }),
  expired: (planted) => forgeToken({ claims: { planted, exp: 1 }, secret }),
  foreign: (planted) => forgeToken({ header: { alg: planted }, claims: { planted }, secret }),
  none: () => '',
  nonsense: (planted) => planted,
} satisfies Record<string, (planted: string) => string>;

const bodies = {
  book: (planted) => JSON.stringify({ title: planted, author: planted, [planted]: 1 }),
  credentials: (planted) => JSON.stringify({ username, password: planted }),
  'valid credentials': () => JSON.stringify({ username, password }),
  'wrong type': (planted) =>
    JSON.stringify({ [planted]: [planted], title: [planted], password: { planted }, year: planted }),
  'no JSON': (planted) => planted,
  'no UTF-8': (planted) => Buffer.from(`{"title":"${planted}\xff"}`, 'latin1'),
} satisfies Record<string, (planted: string) => string | Buffer>;

const routes = [
  'POST /token',
  'POST /book',
  'GET /books',
  'GET /book/1',
  'PUT /book/1',
  'DELETE /book/1',
  'GET /book/{planted}',
];

/** For each route each storage, token and body, while the other two are as usual. */
const usual = { storage: storages.found, token: tokens.valid, body: bodies.book };
const situations = routes.flatMap((route) => [
  ...Object.values(storages).map((storage) => ({ route, ...usual, storage })),
  ...Object.values(tokens).map((token) => ({ route, ...usual, token })),
  ...Object.values(bodies).map((body) => ({ route, ...usual, body })),
]);

test('nothing that a client sent or got, or that is stored, is logged', async () => {
  let respond = (body: string) => found('nothing yet', body);
  const { endpoint } = await startScriptedDatabase(async (request, response) => {
    const { status, text } = respond(await readText(request));
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
  });
  const call = await loadHandlers(`${endpoint}/books`);

  const statuses = new Set<number>();
  for (const { route, storage, ...make } of situations) {
    const planted = `zq${randomBytes(6).toString('hex')}`;
    const token = make.token(planted);
    const body = Buffer.from(make.body(planted)).toString('base64');
    const [method = '', path = ''] = route.replace('{planted}', planted).split(' ');
    respond = (received) => storage(planted, received);
    const log = captureLog();

    const request = { ...plantEverywhere(planted, token), body, isBase64Encoded: true };
    const { status, envelope } = await call(method, path, request);

    statuses.add(status);
    expect(log.text).toContain('"message":"request"');
    // An excerpt is one too many as well.
    const { token: issued = '' } = (envelope?.data ?? {}) as { token?: string };
    const secrets = [secret, username, password, body, ...`${token}.${issued}`.split('.')];
    for (const text of [planted.slice(0, 8), ...secrets]) {
      if (text !== '') expect(log.text).not.toContain(text);
    }
  }

  expect([...statuses].sort()).toEqual([200, 201, 400, 401, 404, 500, 503]);
});

/** Every member of an event that comes from the client; what the gateway makes up is left as it is. */
function plantEverywhere(planted: string, token: string): Partial<APIGatewayProxyEvent> {
  const names = ['Cookie', planted, 'Host', 'Referer'];
  const headers = { Authorization: token, ...Object.fromEntries(names.map((name) => [name, planted])) };
  const query = { token: planted, [planted]: planted };
  const identity = { sourceIp: planted, userAgent: planted, user: planted, cognitoIdentityId: planted };
  const context = { path: `/${planted}`, domainName: planted, authorizer: { claims: planted }, identity };
  // Of several headers of a name the last one counts.
  const repeat = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [planted, value]]));
  return {
    path: `/${planted}`,
    headers,
    multiValueHeaders: repeat(headers),
    queryStringParameters: query,
    multiValueQueryStringParameters: repeat(query),
    stageVariables: query,
    requestContext: context as never,
  };
}
