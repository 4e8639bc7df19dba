import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { capacityOf } from '../../test/simulators/metering-proxy.ts';
import { settings, token } from './settings.ts';

/** One of our six endpoints, by the name of its handler's file. */
export type EndpointName =
  | 'get-book'
  | 'create-book'
  | 'update-book'
  | 'delete-book'
  | 'list-books'
  | 'create-token';

/** What a request of an endpoint consists of. */
export interface EndpointCall {
  readonly name: EndpointName;
  readonly route: keyof typeof capacityOf;
  /** The function in serverless.yml. */
  readonly functionName: string;
  readonly method: string;
  readonly resource: string;
  readonly path: string;
  readonly body?: unknown;
}

/** A call of each endpoint that succeeds, against the stub DynamoDB too. */
export const endpoints: readonly EndpointCall[] = [
  {
    name: 'get-book',
    route: 'GET /book/{id}',
    functionName: 'getBook',
    method: 'GET',
    resource: '/book/{id}',
    path: '/book/1',
  },
  {
    name: 'create-book',
    route: 'POST /book',
    functionName: 'createBook',
    method: 'POST',
    resource: '/book',
    path: '/book',
    body: { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 },
  },
  {
    name: 'update-book',
    route: 'PUT /book/{id}',
    functionName: 'updateBook',
    method: 'PUT',
    resource: '/book/{id}',
    path: '/book/1',
    body: { title: 'The Left Hand of Darkness', year: 1969 },
  },
  {
    name: 'delete-book',
    route: 'DELETE /book/{id}',
    functionName: 'deleteBook',
    method: 'DELETE',
    resource: '/book/{id}',
    path: '/book/1',
  },
  {
    name: 'list-books',
    route: 'GET /books',
    functionName: 'listBooks',
    method: 'GET',
    resource: '/books',
    path: '/books',
  },
  {
    name: 'create-token',
    route: 'POST /token',
    functionName: 'createToken',
    method: 'POST',
    resource: '/token',
    path: '/token',
    body: { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD },
  },
];

/** What may differ from a request that succeeds. */
export interface EventOverrides {
  readonly path?: string;
  /** The body as it is sent. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes the event of a request as a REST API of API Gateway sends it, with what a browser or a client puts into it:
 * frameworks read all of that.
 *
 * @param call - the endpoint
 * @param overrides - what is to be different
 */
export function createEvent(call: EndpointCall, overrides: EventOverrides = {}): APIGatewayProxyEvent {
  const path = overrides.path ?? call.path;
  const text = overrides.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries({
    ...usualHeaders,
    ...(call.resource !== '/token' && { Authorization: token }),
    ...(text !== undefined && { 'Content-Type': 'application/json' }),
    ...overrides.headers,
  })) {
    if (value !== undefined) headers[name] = value;
  }
  return {
    resource: call.resource,
    path,
    httpMethod: call.method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: call.resource === '/book/{id}' ? { id: path.slice('/book/'.length) } : null,
    stageVariables: null,
    requestContext: {
      resourceId: 'abc123',
      resourcePath: call.resource,
      httpMethod: call.method,
      extendedRequestId: 'JKJaXmPLvHcESHA=',
      requestTime: '10/Mar/2026:00:03:59 +0000',
      path: `/dev${path}`,
      accountId: '123456789012',
      protocol: 'HTTP/1.1',
      stage: 'dev',
      domainPrefix: '70ixmpl4fl',
      requestTimeEpoch: 1773100000000,
      requestId: 'e43c9c1c-bdaf-4c4d-9f3c-6c0d9c0f6bb1',
      identity,
      domainName: '70ixmpl4fl.execute-api.eu-west-1.amazonaws.com',
      apiId: '70ixmpl4fl',
      authorizer: null,
    },
    body: text === undefined ? null : Buffer.from(text).toString('base64'),
    isBase64Encoded: text !== undefined,
  };
}

const usualHeaders: Readonly<Record<string, string>> = {
  Accept: '*/*',
  'CloudFront-Forwarded-Proto': 'https',
  'CloudFront-Is-Desktop-Viewer': 'true',
  'CloudFront-Is-Mobile-Viewer': 'false',
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

const identity: APIGatewayProxyEvent['requestContext']['identity'] = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp: '52.255.255.12',
  user: null,
  userAgent: 'curl/8.7.1',
  userArn: null,
};
