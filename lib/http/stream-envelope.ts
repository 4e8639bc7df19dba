import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Outcome } from './outcomes.ts';

/** The result of a handler that streams. */
export interface StreamedResult {
  /** Chunks of the array `data`: elements as JSON with commas between them. */
  readonly data: AsyncIterable<string> | Iterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response whose body is sent while it is read. */
export type StreamedResponse = Awaited<ReturnType<typeof startStream>>;

/**
 * Starts a response that streams the envelope, with `status` and `message` before `data` (specification 1.1). The first
 * chunk is read before the status is sent, so that unavailable storage gives a 503. A later failure destroys the
 * stream: the client sees a body that breaks off, never a short list that looks complete.
 */
export async function startStream(success: Outcome, { data, headers }: StreamedResult) {
  const body = Readable.from(serialize(success, data));
  await once(body, 'readable');
  const allHeaders: Record<string, string> = { 'Content-Type': 'application/json', ...success.headers, ...headers };
  return { statusCode: success.status, headers: allHeaders, body };
}

/** Yields the text of the envelope, one chunk for each chunk of the data that is not empty. */
async function* serialize({ status, message }: Outcome, data: StreamedResult['data']) {
  let start = `${JSON.stringify({ status, message }).slice(0, -1)},"data":[`;
  for await (const elements of data) {
    if (elements === '') continue;
    yield start + elements;
    start = ',';
  }
  yield start === ',' ? ']}' : `${start}]}`;
}
