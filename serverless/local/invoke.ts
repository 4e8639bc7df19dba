import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { HttpEvent } from '../framework.ts';
import type { LoadedFunction } from './functions.ts';

interface Route {
  readonly definition: LoadedFunction;
  readonly event: HttpEvent;
  readonly parameters: Readonly<Record<string, string>>;
}

interface WholeRequest {
  readonly request: IncomingMessage;
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  readonly body: Buffer;
}

const streams = Symbol('streams its response');

/** The global object of Lambda's Node runtime for response streaming. */
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
 * Invokes a function as API Gateway's proxy integration does (AWS_PROXY, all bodies as base64), and sends its response.
 * Throws what the handler throws, and an Error when it returns no response.
 */
export async function invoke(
  { definition, event: { method, path: resource }, parameters }: Route,
  { request, path, query, body }: WholeRequest,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const event = {
    httpMethod: method,
    resource,
    path,
    // Names as they were sent; of several values the last one counts.
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
    // The missing members are identifiers of AWS.
  } as unknown as APIGatewayProxyEvent;
  const deadline = performance.now() + definition.timeoutMs;
  const context = {
    awsRequestId: requestId,
    functionName: definition.name,
    getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
  } as Context;
  if (streams in definition.handler) {
    await definition.handler(event, response, context);
    return;
  }
  sendResult(response, (await definition.handler(event, context)) as APIGatewayProxyResult | undefined);
}

function readHeaders(raw: readonly string[]) {
  const pairs: Pair[] = [];
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? '']);
  return { headers: Object.fromEntries(pairs), multiValueHeaders: groupValues(pairs) };
}

function readQuery(query: string) {
  if (query === '') return { queryStringParameters: null, multiValueQueryStringParameters: null };
  const pairs = [...new URLSearchParams(query)];
  return {
    queryStringParameters: Object.fromEntries(pairs),
    multiValueQueryStringParameters: groupValues(pairs),
  };
}

type Pair = [name: string, value: string];

function groupValues(pairs: readonly Pair[]): Record<string, string[]> {
  const groups = [...Map.groupBy(pairs, ([name]) => name)];
  return Object.fromEntries(groups.map(([name, group]) => [name, group.map(([, value]) => value)]));
}

function sendResult(response: ServerResponse, result: APIGatewayProxyResult | undefined): void {
  if (!Number.isInteger(result?.statusCode)) throw new Error('The function returned no response');
  const { statusCode, headers, body = '', isBase64Encoded } = result as APIGatewayProxyResult;
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : body;
  // A 304 has neither a body nor a length (RFC 9110 section 8.6).
  const length = statusCode === 304 ? {} : { 'Content-Length': Buffer.byteLength(bytes) };
  response.writeHead(statusCode, { ...(headers as Record<string, string>), ...length }).end(bytes);
}
