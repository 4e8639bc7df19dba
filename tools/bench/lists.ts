import { buffer } from 'node:stream/consumers';
import { decodeBody } from '../../conformance/decode-body.ts';
import { type LambdaInstance, readPeakMemoryMb } from '../runtime/lambda-instance.ts';
import { toHttpResponse } from '../runtime/runtime-api.ts';
import { createEvent, findEndpoint } from './calls.ts';
import type { PrepareCandidates } from './candidates.ts';
import { readCpuMs } from './instance.ts';
import { startStub } from './stub-dynamodb.ts';

/** The measurement of one whole list, and why there is none, when there is none. The peak is the process's. */
export interface ListResult extends Awaited<ReturnType<typeof measureList>> {
  readonly variant: string;
  readonly bookCount: number;
  readonly failure: string | undefined;
}

const endpoint = findEndpoint('list-books');

/** Measures whole lists of several sizes, ours with each content coding, against the `bare` handler ("naive"). */
export async function measureLists(
  prepare: PrepareCandidates,
  bookCounts: readonly number[],
): Promise<ListResult[]> {
  const variants = (await prepare(endpoint, ['bare', 'before'])).flatMap((candidate) =>
    (candidate.name === 'bare' ? [''] : ['', 'gzip', 'br', 'zstd']).map((coding) => ({ candidate, coding })),
  );
  const results: ListResult[] = [];
  for (const bookCount of bookCounts) {
    const stub = await startStub(bookCount);
    for (const { candidate, coding } of variants) {
      const variant = [candidate.name.replace('bare', 'naive'), coding].filter(Boolean).join(', ');
      const event = createEvent(endpoint, { headers: { 'Accept-Encoding': coding } });
      const instance = await candidate.start({ DB_URL: stub.url, NODE_OPTIONS: endpoint.nodeOptions });
      await instance.api.initialized;
      // The first list is not counted, but checked.
      const failure = await checkList(instance, event, bookCount);
      for (let left = bookCount > 1e5 ? 1 : 5; left > 0; left -= 1) {
        results.push({ variant, bookCount, failure, ...(await measureList(instance, event)) });
      }
      await instance.stop();
    }
    stub.stop();
    console.error(`lists of ${bookCount} measured`);
  }
  return results;
}

async function measureList(instance: LambdaInstance, event: unknown) {
  const cpuBefore = readCpuMs(instance);
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
  const cpuMs = readCpuMs(instance) - cpuBefore;
  return { firstByteMs, totalMs, cpuMs, peakMemoryMb: readPeakMemoryMb(instance), bodyBytes };
}

/** @returns why there is no list. @throws an Error when there is one that is not complete and in order */
async function checkList(instance: LambdaInstance, event: unknown, bookCount: number) {
  const result = await instance.api.invoke(event);
  if (result.kind === 'error') return (result.error as { errorType: string }).errorType;
  const { headers, body } = await toHttpResponse(result);
  const text = decodeBody(await buffer(body), headers['Content-Encoding']);
  const books: readonly { readonly id: number }[] = JSON.parse(text.toString()).data;
  const isInOrder = books.every(({ id }, index) => id === index + 1);
  if (!isInOrder || books.length !== bookCount)
    throw new Error(`a list of ${books.length} books, not ${bookCount}`);
  return undefined;
}
