import { basename } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { forgeToken } from '../../conformance/forge-token.ts';
import { functions } from '../../serverless/packaging/package-service.ts';

/** The environment of every function under measurement. */
export const settings = {
  SECRET_TOKEN: 'a secret that only the benchmark knows and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: 'a password',
  // Lambda's credentials are temporary ones.
  AWS_SESSION_TOKEN: 'x'.repeat(600),
  RESPONSE_TRANSFER_MODE: 'STREAM', // Version 1.0.0 reads it.
};

const fields = { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 };
const login = { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD };
const bodies: Readonly<Record<string, object>> = {
  createToken: login,
  createBook: fields,
  updateBook: fields,
};

/** A request of each endpoint that succeeds, against the stub DynamoDB too. */
export const endpoints = functions.map(({ name: functionName, event: { method, path }, ...own }) => ({
  name: basename(own.handler, '.handler'),
  functionName,
  ...own,
  method,
  resource: path,
  path: path.replace('{id}', '1'),
  body: bodies[functionName],
  /** Otherwise it is measured against another checkout only. */
  hasPeers: !['updateBook', 'deleteBook'].includes(functionName),
}));

export type EndpointCall = (typeof endpoints)[number];

export function findEndpoint(name: string): EndpointCall {
  const endpoint = endpoints.find((one) => one.name === name);
  if (endpoint === undefined) throw new Error(`there is no endpoint ${name}`);
  return endpoint;
}

/** Differences from a request that succeeds. */
export interface EventOverrides {
  readonly path?: string;
  /** The body as it is sent. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
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

/** Makes the event that a REST API of API Gateway sends for a request. An empty header value leaves the header out. */
export function createEvent(
  { method, resource, path: usualPath, body }: EndpointCall,
  { path = usualPath, text = body && JSON.stringify(body), headers: changed }: EventOverrides = {},
): APIGatewayProxyEvent {
  const all = {
    ...usualHeaders,
    Authorization: resource === '/token' ? '' : authorization,
    'Content-Type': text === undefined ? '' : 'application/json',
    ...changed,
  };
  const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  const requestContext = {
    resourcePath: resource,
    httpMethod: method,
    path: `/dev${path}`,
    stage: 'dev',
    requestId: 'e43c9c1c-bdaf-4c4d-9f3c-6c0d9c0f6bb1',
    identity: { sourceIp: '52.255.255.12', userAgent: 'curl/8.7.1' },
  } as APIGatewayProxyEvent['requestContext'];
  return {
    resource,
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    pathParameters: resource === '/book/{id}' ? { id: path.slice('/book/'.length) } : null,
    requestContext,
    body: text === undefined ? null : Buffer.from(text).toString('base64'),
    isBase64Encoded: text !== undefined,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
  };
}
