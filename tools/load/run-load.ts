import assert from 'node:assert/strict';
import { type Book, expectBooks } from '../../test/conformance/books.ts';
import type { ConformanceContext } from '../../test/conformance/context.ts';
import { Measurements, type MemorySample } from './measurements.ts';
import { VirtualUser } from './virtual-user.ts';

const users = 50;
const booksToStartWith = 20;
const largestPage = 1000;
const memorySampleMs = 1000;

/** After so many wrong answers the rest of the run says nothing new. */
const maxFailures = 100;

/** What came of a run. */
export interface LoadReport {
  readonly measurements: Measurements;
  readonly seconds: number;
  readonly failures: readonly Error[];
  /** Books that were looked at one by one after the run. */
  readonly booksChecked: number;
  readonly memory: readonly MemorySample[];
}

/**
 * Puts a service under load, checks every answer, and at the end the whole catalog.
 *
 * @param context - the way to the service
 * @param seconds - how long
 * @param readMemory - gives the megabytes of the service, where they can be known
 */
export async function runLoad(
  context: ConformanceContext,
  seconds: number,
  readMemory?: () => Promise<number>,
): Promise<LoadReport> {
  const measurements = new Measurements();
  const crew = Array.from({ length: users }, () => new VirtualUser(context, measurements));
  for (const user of crew) await user.prepare(booksToStartWith);

  const failures: Error[] = [];
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1000;
  const memory = sampleMemory(readMemory, elapsed);
  const work = async (user: VirtualUser) => {
    while (elapsed() < seconds && failures.length < maxFailures) {
      await user.act().catch((error: Error) => failures.push(error));
    }
  };
  await Promise.all(crew.map(work));
  const took = elapsed();
  const samples = await memory.stop();
  const booksChecked = await checkCatalog(context, crew).catch((error: Error) => {
    failures.push(error);
    return 0;
  });
  return { measurements, seconds: took, failures, booksChecked, memory: samples };
}

/** Walks through the whole list; books of others may be in it. */
async function checkCatalog(context: ConformanceContext, crew: readonly VirtualUser[]): Promise<number> {
  const goneIds = new Set(crew.flatMap((user) => user.goneIds));
  const known = new Map(crew.flatMap((user) => [...user.books]));
  const listed: Book[] = [];
  for (let after = 0; ; ) {
    const answer = await context.call('GET', `/books?limit=${largestPage}&after=${after}`);
    const page = expectBooks(answer);
    listed.push(...page.filter(({ id }) => known.has(id) || goneIds.has(id)));
    after = page.at(-1)?.id ?? after;
    if (answer.headers.link === undefined) break;
  }
  const expected = [...known.values()].sort((a, b) => a.id - b.id);
  const created = sum(crew.map(({ books }) => books.size));
  assert.equal(known.size, created, `each id was given out once, got ${known.size} ids of ${created} books`);
  assert.deepEqual(listed, expected, 'the catalog after the run');
  return expected.length + goneIds.size;
}

function sampleMemory(readMemory: (() => Promise<number>) | undefined, elapsed: () => number) {
  const samples: Promise<MemorySample>[] = [];
  const sample = () => {
    if (!readMemory) return;
    const second = Math.round(elapsed());
    samples.push(readMemory().then((megabytes) => ({ second, megabytes })));
  };
  sample();
  const timer = setInterval(sample, memorySampleMs);
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      return Promise.all(samples);
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
