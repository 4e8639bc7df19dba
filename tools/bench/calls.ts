import { basename } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { forgeToken } from '../../conformance/forge-token.ts';
import { functions } from '../../serverless/functions.ts';

/** The environment of every function under measurement. */
export const settings = {
  SECRET_TOKEN: 'a secret that only the benchmark knows and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: 'a password',
  // Lambda's credentials are temporary ones.
  AWS_SESSION_TOKEN: 'x'.repeat(600),
};

const fields = { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 };
const bodies: Readonly<Record<string, object>> = {
  createToken: { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD },
  createBook: fields,
  updateBook: fields,
};

/** A request of an endpoint that succeeds, against the stub DynamoDB too. */
export type EndpointCall = ReturnType<typeof callOf>;

export const endpoints = functions.flatMap((definition) => {
  const call = callOf(definition);
  return call.name === 'list-books' ? [call, { ...call, name: 'list-1000-books', bookCount: 1000 }] : [call];
});

function callOf({ name: functionName, handler, event: { method, path } }: (typeof functions)[number]) {
  return {
    name: basename(handler, '.handler'),
    functionName,
    handler,
    method,
    resource: path,
    path: path.replace('{id}', '1'),
    body: bodies[functionName],
    /** The books of the stub DynamoDB. */
    bookCount: 1,
    /** Otherwise it is measured against another checkout only. */
    hasPeers: !['updateBook', 'deleteBook'].includes(functionName),
  };
}

const authorization = forgeToken({
  header: { alg: 'HS256', typ: 'JWT' },
  claims: { exp: Math.floor(Date.now() / 1000) + 24 * 60 * 60 },
  secret: settings.SECRET_TOKEN,
});

/** The headers of a request that API Gateway hands on: frameworks read all of them. */
const usualHeaders = {
  Accept: '*/*',
  'CloudFront-Viewer-Country': 'IE',
  Host: '70ixmpl4fl.execute-api.eu-west-1.amazonaws.com',
  'User-Agent': 'curl/8.7.1',
  Via: '2.0 3a1e8b3aa3f0c8f0d1a4b4ad1e0b2c61.cloudfront.net (CloudFront)',
  'X-Amz-Cf-Id': 'Z5bBqXo3p0o7h5o5b8b1YH0m0p1d0eWb3hC4t8mY7Kn0p1Qw2e3r4t==',
  'X-Amzn-Trace-Id': 'Root=1-5e66d96f-7491f09xmpl79d18acf3d050',
  'X-Forwarded-For': '52.255.255.12',
  'X-Forwarded-Port': '443',
  'X-Forwarded-Proto': 'https',
};

/** Differences from a request that succeeds; `text` is the body as it is sent. */
export type EventOverrides = Readonly<Partial<Record<'path' | 'text' | 'authorization', string>>>;

/** Makes the event that a REST API of API Gateway sends for a request. */
export function createEvent(call: EndpointCall, overrides: EventOverrides = {}): APIGatewayProxyEvent {
  const { method, resource, body } = call;
  const { path, text, ...changed } = { path: call.path, text: body && JSON.stringify(body), ...overrides };
  const headers: Record<string, string> = {
    ...usualHeaders,
    ...(resource !== '/token' && { Authorization: changed.authorization ?? authorization }),
    ...(text !== undefined && { 'Content-Type': 'application/json' }),
  };
  return {
    resource,
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    pathParameters: resource === '/book/{id}' ? { id: path.slice('/book/'.length) } : null,
    requestContext: {
      resourcePath: resource,
      httpMethod: method,
      path: `/dev${path}`,
      stage: 'dev',
      requestId: 'e43c9c1c-bdaf-4c4d-9f3c-6c0d9c0f6bb1',
      identity: { sourceIp: '52.255.255.12', userAgent: 'curl/8.7.1' },
    } as APIGatewayProxyEvent['requestContext'],
    body: text === undefined ? null : Buffer.from(text).toString('base64'),
    isBase64Encoded: text !== undefined,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
  };
}
