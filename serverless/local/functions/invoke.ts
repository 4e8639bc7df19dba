import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { requestIdHeader } from '../../api-gateway/request-id.ts';
import type { HttpEvent } from '../../framework-types.ts';
import type { LoadedFunction } from './function-loader.ts';

interface Invocation {
  readonly definition: LoadedFunction;
  readonly event: HttpEvent;
  readonly parameters: Readonly<Record<string, string>>;
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
 *
 * @throws what the handler throws, and an Error when its response has no status
 */
export async function invoke(
  { definition, event: { method, path: resource }, parameters, path, query, body }: Invocation,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = response.getHeader(requestIdHeader);
  const [headers, multiValueHeaders] = collect(pairUp(request.rawHeaders));
  const [queryStringParameters, multiValueQueryStringParameters] = collect([...new URLSearchParams(query)]);
  const event = {
    httpMethod: method,
    resource,
    path,
    headers,
    multiValueHeaders,
    queryStringParameters: query === '' ? null : queryStringParameters,
    multiValueQueryStringParameters: query === '' ? null : multiValueQueryStringParameters,
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
  if (streams in definition.handler) await definition.handler(event, response, context);
  else sendResult(response, (await definition.handler(event, context)) as APIGatewayProxyResult | undefined);
}

type Pair = readonly [name: string, value: string];

function pairUp(raw: readonly string[]): readonly Pair[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
}

/** @returns the last value of each name, and all values of each name */
function collect(pairs: readonly Pair[]) {
  const groups = [...Map.groupBy(pairs, ([name]) => name)];
  const lists = groups.map(([name, group]) => [name, group.map(([, value]) => value)] as const);
  return [Object.fromEntries(pairs), Object.fromEntries(lists)] as const;
}

function sendResult(response: ServerResponse, result: APIGatewayProxyResult | undefined): void {
  if (!Number.isInteger(result?.statusCode)) {
    throw new Error(
      `The function returned a response whose statusCode is not a whole number: ${inspect(result?.statusCode)}`,
    );
  }
  const { statusCode, headers, body = '', isBase64Encoded } = result as APIGatewayProxyResult;
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : body;
  // A 304 has neither a body nor a length (RFC 9110 section 8.6).
  const length = statusCode === 304 ? {} : { 'Content-Length': Buffer.byteLength(bytes) };
  response.writeHead(statusCode, { ...(headers as Record<string, string>), ...length }).end(bytes);
}
