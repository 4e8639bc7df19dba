import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { type Command, MemoryTable } from '../fakes/memory-table.ts';
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
    nowMs: 0,
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

beforeEach(() => {
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

test.for<[updates: number, maxRequests: number]>([
  [2, 4],
  [10, 7],
  [50, 9],
])('%i updates of one book at once take at most %d requests each', async ([updates, maxRequests]) => {
  const { counted, access } = openSlowTable();
  await storeBook(access, { id: 1, ...emma });

  const updating = Array.from({ length: updates }, (_each, year) => openBooks(access).update(1, { year }));
  const updated = await Promise.all(updating);

  expect(new Set(updated.map(({ version }) => version)).size).toBe(updates);
  expect(updated).toContainEqual(await openBooks(access).get(1));
  expect(counted.requests / updates).toBeLessThanOrEqual(maxRequests);
});
