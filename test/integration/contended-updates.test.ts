import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { type Command, MemoryTable } from '../simulators/memory-table.ts';
import { emma, openBooks, storeBook } from '../support/book-table.ts';
import { openBySending } from '../support/table-by-request.ts';

/**
 * A clock of the test: when nothing else is left to do, it goes on to the next timer. So the load of the machine changes
 * nothing of the order of requests.
 */
const clock = vi.hoisted(() => {
  const timers: { readonly at: number; readonly wake: () => void }[] = [];
  const goOn = () => {
    const next = timers.reduce((one, other) => (other.at < one.at ? other : one));
    timers.splice(timers.indexOf(next), 1);
    clock.nowMs = next.at;
    next.wake();
    if (timers.length > 0) setImmediate(goOn);
  };
  const clock = {
    nowMs: Date.now(),
    wait: (delayMs: number) =>
      new Promise<void>((wake) => {
        if (timers.length === 0) setImmediate(goOn);
        timers.push({ at: clock.nowMs + delayMs, wake });
      }),
  };
  return clock;
});

vi.mock(import('node:timers/promises'), async (importOriginal) => ({
  ...(await importOriginal()),
  setTimeout: clock.wait as typeof sleep,
}));

/** How many milliseconds the clock of a process is ahead. */
const aheadMs = new AsyncLocalStorage<number>();

beforeEach(() => {
  vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(clock.nowMs) + (aheadMs.getStore() ?? 0));
  // The time limit of an attempt, which on a busy machine is over before its turn on the clock of the test.
  vi.stubGlobal('setTimeout', () => {});
});

/** A table whose requests take some milliseconds each way. It counts them. */
function openSlowTable() {
  const table = new MemoryTable();
  const counted = { requests: 0 };
  const onTheWay = () => sleep(1 + Math.random() * 4);
  const send = async (command: Command) => {
    counted.requests += 1;
    await onTheWay();
    try {
      return await table.execute(command);
    } finally {
      await onTheWay();
    }
  };
  return { counted, access: openBySending(send) };
}

const hourMs = 3_600_000;

test.for<[updates: number, processes: number, apartMs: number, most: number]>([
  [50, 1, 0, 2],
  [48, 4, 0, 3],
  [50, 50, 0, 3],
  [400, 1, 0, 3],
  [400, 4, 0, 3.5],
  [400, 400, 0, 4],
  [48, 8, hourMs, 3],
  [400, 8, hourMs, 4.5],
])(
  '%i updates of one book at once, by %i processes with clocks %i ms apart, take at most %d requests each',
  async (row) => {
    const [updates, processes, apartMs, most] = row;
    const { counted, access } = openSlowTable();
    const others = openBooks(access);
    await storeBook(access, { id: 1, ...emma });
    const processBooks = Array.from({ length: processes }, () => openBooks(access));

    const updating = Array.from({ length: updates / processes }, (_each, year) =>
      processBooks.map((books, process) =>
        aheadMs.run(apartMs * process, () => books.update(1, { year, title: `${process}` })),
      ),
    );
    const updated = await Promise.all(updating.flat());

    const versions = updated.map(({ version = '' }) => version).toSorted();
    expect(new Set(versions).size).toBe(updates);
    expect(await others.get(1)).toEqual(updated.find(({ version }) => version === versions.at(-1)));
    expect(counted.requests / updates).toBeLessThanOrEqual(most);
  },
);
