import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { InvocationResult } from './runtime-api.ts';

/** What API Gateway would send to the client. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, base64 decoded; breaks off with an error when the function failed half-way. */
  readonly body: AsyncIterable<Buffer>;
}

/** Between the metadata and the body of a stream ("Set up a Lambda proxy integration with payload response streaming"). */
const delimiter = Buffer.alloc(8);

/**
 * Reads an invocation's result as API Gateway does, whether it is streamed or not.
 *
 * @param result - what the function answered
 * @throws an Error when the function reported one
 */
export async function toHttpResponse(result: InvocationResult): Promise<HttpResponse> {
  if (result.kind === 'error') throw new Error(`the function failed: ${JSON.stringify(result.error)}`);
  if (result.kind === 'stream') return parseStream(result.stream);
  const { statusCode, headers, body, isBase64Encoded } = result.payload as APIGatewayProxyResult;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  return { statusCode, headers: headers as Record<string, string>, body: only(bytes) };
}

async function parseStream(stream: IncomingMessage): Promise<HttpResponse> {
  const chunks = stream[Symbol.asyncIterator]();
  let received = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const { done, value } = await chunks.next();
    if (done) throw new Error('the stream ended before its metadata did');
    received = Buffer.concat([received, value]);
    end = received.indexOf(delimiter);
  }
  const metadata = JSON.parse(received.subarray(0, end).toString('utf8'));
  return { ...metadata, body: rest(received.subarray(end + delimiter.length), chunks, stream) };
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function* rest(
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
  stream: IncomingMessage,
): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  const failure = stream.trailers['lambda-runtime-function-error-type'];
  if (failure) throw new Error(`the function failed while it streamed: ${failure}`);
}
