import assert from 'node:assert/strict';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Book } from '../../lib/books/book.ts';
import type { ConformanceContext } from '../../test/conformance/context.ts';
import { ask, type Operation, VirtualUser } from './virtual-user.ts';

const userCount = 50;
const booksToStartWith = 20;
const largestPage = 1000;
const memorySampleMs = 1000;

/** After so many wrong responses the rest of the run says nothing new. */
const maxFailures = 100;

/** How long responses took, by operation, in microseconds. */
type Durations = ReadonlyMap<Operation | 'all', RecordableHistogram>;

interface LoadReport {
  readonly durations: Durations;
  readonly seconds: number;
  readonly failures: readonly Error[];
  /** Books that were looked at one by one after the run. */
  readonly booksChecked: number;
  readonly memoryMb: readonly number[];
}

/** Puts a service under load, checks every response, and at the end the whole catalog. */
export async function runLoad(
  context: ConformanceContext,
  seconds: number,
  readMemoryMb: () => Promise<number>,
): Promise<LoadReport> {
  const users = Array.from({ length: userCount }, () => new VirtualUser(context));
  for (const user of users) {
    for (let made = 0; made < booksToStartWith; made += 1) await user.create();
  }
  const durations = new Map<Operation | 'all', RecordableHistogram>();
  const failures: Error[] = [];
  const memoryMb = [await readMemoryMb()];
  const timer = setInterval(async () => memoryMb.push(await readMemoryMb()), memorySampleMs);
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1000;

  const work = async (user: VirtualUser) => {
    while (elapsed() < seconds && failures.length < maxFailures) {
      const sentAt = performance.now();
      const operation = await user.act().catch((error: Error) => failures.push(error));
      if (typeof operation === 'number') continue;
      for (const name of [operation, 'all'] as const) {
        const histogram = durations.get(name) ?? createHistogram();
        durations.set(name, histogram);
        histogram.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)));
      }
    }
  };
  await Promise.all(users.map(work));
  const took = elapsed();
  clearInterval(timer);
  const booksChecked = await checkCatalog(context, users).catch((error: Error) => failures.push(error) && 0);
  return { durations, seconds: took, failures, booksChecked, memoryMb };
}

/** Formats durations as a table, an operation a line. */
export function formatDurations(durations: Durations, seconds: number): string {
  const rows = [...durations].map(([name, histogram]) => {
    const percentiles = [50, 99, 100].map((percentile) =>
      (histogram.percentile(percentile) / 1000).toFixed(1),
    );
    return [name.padEnd(8), histogram.count, (histogram.count / seconds).toFixed(1), ...percentiles];
  });
  const head = ['        ', 'requests', 'a second', 'p50 ms', 'p99 ms', 'max ms'];
  return [head, ...rows].map((cells) => cells.map((cell) => String(cell).padStart(8)).join('  ')).join('\n');
}

/** Walks through the whole list. */
async function checkCatalog(context: ConformanceContext, users: readonly VirtualUser[]): Promise<number> {
  const goneCount = users.reduce((sum, { goneIds }) => sum + goneIds.length, 0);
  const known = new Map(users.flatMap((user) => [...user.books]));
  const given = users.reduce((sum, { books }) => sum + books.size, 0);
  assert.equal(known.size, given, 'an id was given twice');
  const listed: Book[] = [];
  for (let [after, more] = [0, true]; more; ) {
    const { data, headers } = await ask(context, 'GET', `/books?limit=${largestPage}&after=${after}`, 200);
    const page = data as Book[];
    listed.push(...page);
    after = page.at(-1)?.id ?? after;
    more = headers.link !== undefined;
  }
  const expected = [...known.values()].sort((a, b) => a.id - b.id);
  assert.deepEqual(listed, expected, 'the catalog after the run');
  return expected.length + goneCount;
}
