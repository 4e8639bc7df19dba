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

const book = { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 };
const credentials = { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD };

const authorization = forgeToken({
  header: { alg: 'HS256', typ: 'JWT' },
  claims: { exp: Math.floor(Date.now() / 1000) + 24 * 60 * 60 },
  secret: settings.SECRET_TOKEN,
});

/** The headers of a request that API Gateway hands on: middleware reads all of them. */
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

/** A request that succeeds, and the function that serves it. */
export type Call = ReturnType<typeof callOf>;

/** The calls under measurement. `books` are those in the stub DynamoDB. */
export const calls: readonly Call[] = [
  callOf('get-book', 'getBook'),
  callOf('create-book', 'createBook', book),
  callOf('update-book', 'updateBook', book),
  callOf('delete-book', 'deleteBook'),
  callOf('list-books', 'listBooks'),
  callOf('list-1000-books', 'listBooks', undefined, '1000'),
  callOf('list-1000-books-one-older', 'listBooks', undefined, '1000-older'),
  callOf('find-1-of-1000-books', 'listBooks', undefined, '1000', { author: 'author "7"' }),
  callOf('find-1000-of-1000-books', 'listBooks', undefined, '1000', { author: 'author' }),
  callOf('create-token', 'createToken', credentials),
];

function callOf(name: string, functionName: string, body?: object, books = '1', filter?: Record<string, string>) {
  const definition = functions.find((one) => one.name === functionName);
  if (definition === undefined) throw new Error(`serverless.yml has no function ${functionName}`);
  const { handler, event } = definition;
  const made = createEvent(event.method, event.path, body);
  const isFilter = filter !== undefined;
  /** The event, and that of the whole list, with which a search is compared. */
  const events = isFilter ? { event: { ...made, queryStringParameters: filter }, wholeList: made } : { event: made };
  return { name, functionName, handler, books, wholeList: undefined, ...events };
}

/** Makes the event that a REST API of API Gateway sends for a request. */
function createEvent(httpMethod: string, resource: string, body: object | undefined): APIGatewayProxyEvent {
  const path = resource.replace('{id}', '1');
  const headers: Record<string, string> = {
    ...usualHeaders,
    ...(resource !== '/token' && { Authorization: authorization }),
    ...(body && { 'Content-Type': 'application/json' }),
  };
  return {
    resource,
    path,
    httpMethod,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    pathParameters: resource.includes('{id}') ? { id: '1' } : null,
    requestContext: {
      resourcePath: resource,
      httpMethod,
      path: `/dev${path}`,
      stage: 'dev',
      requestId: 'e43c9c1c-bdaf-4c4d-9f3c-6c0d9c0f6bb1',
      identity: { sourceIp: '52.255.255.12', userAgent: 'curl/8.7.1' },
    } as APIGatewayProxyEvent['requestContext'],
    body: body ? Buffer.from(JSON.stringify(body)).toString('base64') : null,
    isBase64Encoded: body !== undefined,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
  };
}
