import type { APIGatewayProxyResult } from 'aws-lambda';
import type { InvocationResult } from './runtime-api.ts';

/** What API Gateway would send to the client. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, base64 decoded; breaks off with an error when the function fails half-way. */
  readonly body: AsyncIterable<Buffer>;
}

/** Between the metadata and the body of a stream ("Set up a Lambda proxy integration with payload response streaming"). */
const delimiter = Buffer.alloc(8);

/**
 * Reads an invocation's result as API Gateway does, whether it is streamed or not.
 *
 * @throws an Error when the function reported one
 */
export async function toHttpResponse(result: InvocationResult): Promise<HttpResponse> {
  if (result.kind === 'error') throw new Error(`the function failed: ${JSON.stringify(result.error)}`);
  if (result.kind === 'response') {
    const { statusCode, headers, body, isBase64Encoded } = result.payload as APIGatewayProxyResult;
    const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
    return { statusCode, headers: headers as Record<string, string>, body: iterate([bytes]) };
  }
  const { stream } = result;
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  let received = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const { done, value } = await chunks.next();
    if (done) throw new Error('the stream ended before its metadata did');
    received = Buffer.concat([received, value]);
    end = received.indexOf(delimiter);
  }
  const first = received.subarray(end + delimiter.length);
  const checkEnd = () => {
    const failure = stream.trailers['lambda-runtime-function-error-type'];
    if (failure) throw new Error(`the function failed while it streamed: ${failure}`);
  };
  return {
    ...JSON.parse(received.subarray(0, end).toString('utf8')),
    body: iterate([first], { [Symbol.asyncIterator]: () => chunks }, checkEnd),
  };
}

async function* iterate(first: Iterable<Buffer>, rest?: AsyncIterable<Buffer>, checkEnd?: () => void) {
  yield* first;
  if (rest) yield* rest;
  checkEnd?.();
}
