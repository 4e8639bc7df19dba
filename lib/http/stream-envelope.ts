import { Readable } from 'node:stream';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Outcome } from './outcomes.ts';

/** What the handler of a streaming endpoint returns. */
export interface StreamedResult {
  /** The elements of `data` as JSON with commas between them, some at a time. */
  readonly data: AsyncIterable<string> | Iterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response of a streaming endpoint, until its body is sent. */
export interface StreamedResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  body: Readable;
}

/**
 * Middleware that puts what a handler returned into the envelope (specification 1.1), as a stream: `status` and
 * `message` before `data`.
 *
 * The first elements are read before the status is decided, so that a storage that is down gives a proper 503. A failure
 * after that destroys the stream: the client sees a body that breaks off, never a short list that looks complete.
 *
 * @param success - the outcome of a request whose handler returned
 */
export function streamEnvelope(success: Outcome): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    after: async function startStream(request) {
      const { data, headers } = request.response as StreamedResult;
      const chunks = serialize(success, data);
      const first = await chunks.next();
      request.response = {
        statusCode: success.status,
        headers: { 'Content-Type': 'application/json', ...success.headers, ...headers },
        body: Readable.from(startWith(first, chunks)),
      } satisfies StreamedResponse;
    },
  };
}

/** Yields the text of the envelope, a chunk for each part of the data that holds anything. */
async function* serialize(
  { status, message }: Outcome,
  data: StreamedResult['data'],
): AsyncGenerator<string> {
  const head = `${JSON.stringify({ status, message }).slice(0, -1)},"data":[`;
  let start = head;
  for await (const elements of data) {
    if (elements === '') continue;
    yield start + elements;
    start = ',';
  }
  yield start === head ? `${head}]}` : ']}';
}

/** Delegates to the generator, so that ending this one early ends the reading behind it. */
async function* startWith(
  first: IteratorResult<string>,
  chunks: AsyncGenerator<string>,
): AsyncGenerator<string> {
  try {
    yield first.value;
    yield* chunks;
  } finally {
    await chunks.return(undefined);
  }
}
