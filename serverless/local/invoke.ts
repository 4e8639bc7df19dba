import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { HttpEvent } from '../framework.ts';
import type { LoadedFunction } from './functions.ts';

/** The function that a request is for. */
export interface Route {
  readonly own: LoadedFunction;
  readonly event: HttpEvent;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A request whose body is read. */
export interface WholeRequest {
  readonly request: IncomingMessage;
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  readonly body: Buffer;
}

/** How Lambda's runtime marks a handler that streams its response. */
const streams = Symbol('streams its response');

/** The global object of Lambda's Node runtime with which functions stream their responses. */
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: object) => Object.assign(handler, { [streams]: true }),
    HttpResponseStream: {
      from: (response: ServerResponse, { statusCode, headers }: APIGatewayProxyResult) =>
        response.writeHead(statusCode, headers as Record<string, string>),
    },
  },
});

/**
 * Invokes a function as API Gateway's proxy integration does (AWS_PROXY, `binaryMediaTypes` of everything), and sends
 * its response.
 *
 * @param route - the function
 * @param whole - the request
 * @param response - where the function's response goes
 * @throws what the handler throws, and an Error when it returns no response
 */
export async function invoke(
  { own, event: { method, path: resource }, parameters }: Route,
  { request, path, query, body }: WholeRequest,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const event = {
    httpMethod: method,
    resource,
    path,
    ...readHeaders(request.rawHeaders),
    ...readQuery(query),
    pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
    stageVariables: null,
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
    requestContext: {
      httpMethod: method,
      identity: { sourceIp: request.socket.remoteAddress },
      path,
      requestId,
      requestTimeEpoch: Date.now(),
      resourcePath: resource,
      stage: 'local',
    },
    // What is missing are names in AWS, which there are none of here.
  } as unknown as APIGatewayProxyEvent;
  const deadline = performance.now() + own.timeoutMs;
  const context = {
    awsRequestId: requestId,
    functionName: own.name,
    getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
  } as Context;
  if (streams in own.handler) {
    await own.handler(event, response, context);
    return;
  }
  sendResult(response, (await own.handler(event, context)) as APIGatewayProxyResult | undefined);
}

/** Names are as they were sent; of several values the last one counts. */
function readHeaders(raw: readonly string[]): Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'> {
  const headers: Record<string, string> = {};
  const multiValueHeaders: Record<string, string[]> = {};
  for (let index = 0; index < raw.length; index += 2)
    add(headers, multiValueHeaders, raw[index], raw[index + 1]);
  return { headers, multiValueHeaders };
}

function readQuery(
  query: string,
): Pick<APIGatewayProxyEvent, 'queryStringParameters' | 'multiValueQueryStringParameters'> {
  if (query === '') return { queryStringParameters: null, multiValueQueryStringParameters: null };
  const queryStringParameters: Record<string, string> = {};
  const multiValueQueryStringParameters: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    add(queryStringParameters, multiValueQueryStringParameters, name, value);
  }
  return { queryStringParameters, multiValueQueryStringParameters };
}

function add(last: Record<string, string>, all: Record<string, string[]>, name = '', value = ''): void {
  last[name] = value;
  if (!Object.hasOwn(all, name)) all[name] = [];
  all[name]?.push(value);
}

function sendResult(response: ServerResponse, result: APIGatewayProxyResult | undefined): void {
  if (!Number.isInteger(result?.statusCode)) throw new Error('The function returned no response');
  const { statusCode, headers, body = '', isBase64Encoded } = result as APIGatewayProxyResult;
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : body;
  // A 304 has neither a body nor a length (RFC 9110 section 8.6).
  const length = statusCode === 304 ? {} : { 'Content-Length': Buffer.byteLength(bytes) };
  response.writeHead(statusCode, { ...(headers as Record<string, string>), ...length }).end(bytes);
}
