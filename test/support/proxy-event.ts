import type { APIGatewayProxyEvent, Context } from 'aws-lambda';

/**
 * Makes the event of a request as API Gateway's proxy integration sends it.
 *
 * @param overrides - what a test is about; the rest is a GET without headers and body
 */
export function createEvent(overrides: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return {
    httpMethod: 'GET',
    path: '/books',
    resource: '/books',
    headers: {},
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'gateway-request-id' } as APIGatewayProxyEvent['requestContext'],
    ...overrides,
  };
}

/**
 * Makes the context of an invocation.
 *
 * @param remainingMs - what is left of the function's timeout
 */
export function createContext(remainingMs = 10_000): Context {
  return {
    awsRequestId: 'lambda-request-id',
    getRemainingTimeInMillis: () => remainingMs,
  } as Context;
}
