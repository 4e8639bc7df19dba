import { PassThrough, pipeline, Readable, type Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { parser } from 'stream-json';
import { pick } from 'stream-json/filters/pick.js';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { type HttpResponse, toHttpResponse } from '../../test/aws/runtime/http-response.ts';
import type { LambdaInstance } from '../../test/aws/runtime/lambda-instance.ts';
import { listNodeOptions } from '../../test/support/package-service.ts';
import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { readCpuMs, readPeakMemoryMb } from './process-usage.ts';

/** A way of asking for the whole list. */
export interface ListVariant {
  readonly name: string;
  readonly candidate: Candidate;
  readonly environment?: NodeJS.ProcessEnv;
  readonly acceptEncoding?: string;
}

/** What one list took. */
export interface ListResult {
  readonly variant: string;
  readonly bookCount: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly cpuMs: number;
  /** Of the process since it started. */
  readonly peakMemoryMb: number;
  readonly bodyBytes: number;
  /** Why the client did not get it, when it did not. */
  readonly failure?: string;
}

/** What the list function is deployed with. */
export const listSettings = { NODE_OPTIONS: listNodeOptions };

/** Above this, a list is checked by a streaming parser. */
const maxParsedAtOnce = 100_000;

/**
 * Asks an instance of its own for the list several times.
 *
 * @param endpoint - GET /books
 * @param variant - who is asked, and how
 * @param databaseUrl - DB_URL
 * @param bookCount - how many books there are
 * @param times - how often; one list before is not counted, and checked instead
 */
export async function measureLists(
  endpoint: EndpointCall,
  variant: ListVariant,
  databaseUrl: string,
  bookCount: number,
  times: number,
): Promise<ListResult[]> {
  const headers = variant.acceptEncoding ? { 'Accept-Encoding': variant.acceptEncoding } : {};
  const event = createEvent(endpoint, { headers });
  const instance = await variant.candidate.start(databaseUrl, variant.environment);
  try {
    await instance.api.initialized;
    const failure = await checkList(instance, event, bookCount);
    const results: ListResult[] = [];
    for (let time = 0; time < times; time += 1) {
      const result = { variant: variant.name, bookCount, ...(await measureList(instance, event)) };
      results.push(failure === undefined ? result : { ...result, failure });
    }
    return results;
  } finally {
    await instance.stop();
  }
}

async function measureList(instance: LambdaInstance, event: unknown) {
  const cpuBefore = readCpuMs(instance.pid);
  const startedAt = performance.now();
  const result = await instance.api.invoke(event);
  let firstByteMs = Number.NaN;
  let bodyBytes = 0;
  if (result.kind !== 'error') {
    const { body } = await toHttpResponse(result);
    for await (const chunk of body) {
      if (bodyBytes === 0) firstByteMs = performance.now() - startedAt;
      bodyBytes += chunk.length;
    }
  }
  const totalMs = performance.now() - startedAt;
  const cpuMs = readCpuMs(instance.pid) - cpuBefore;
  return { firstByteMs, totalMs, cpuMs, peakMemoryMb: readPeakMemoryMb(instance.pid), bodyBytes };
}

/** @returns why there is no list; throws when there is one that is not complete and in order */
async function checkList(
  instance: LambdaInstance,
  event: unknown,
  bookCount: number,
): Promise<string | undefined> {
  const result = await instance.api.invoke(event);
  if (result.kind === 'error') return (result.error as { errorType: string }).errorType;
  const response = await toHttpResponse(result);
  let lastId = 0;
  for await (const { id } of readBooks(response, bookCount)) {
    if (id !== lastId + 1) throw new Error(`book ${id} comes after book ${lastId}`);
    lastId = id;
  }
  if (lastId !== bookCount) throw new Error(`the list ends with book ${lastId}, not ${bookCount}`);
  return undefined;
}

async function* readBooks(
  { headers, body }: HttpResponse,
  bookCount: number,
): AsyncGenerator<{ id: number }> {
  const decode = decoders[headers['Content-Encoding'] ?? ''] ?? (() => new PassThrough());
  // Unlike pipe(), pipeline() passes failures on.
  const decoded = pipeline(Readable.from(body), decode(), () => {});
  if (bookCount <= maxParsedAtOnce) {
    yield* JSON.parse((await buffer(decoded)).toString()).data;
    return;
  }
  const elements = pipeline(
    decoded,
    parser.asStream(),
    pick.asStream({ filter: 'data' }),
    streamArray.asStream(),
    () => {},
  );
  for await (const { value } of elements) yield value;
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};
