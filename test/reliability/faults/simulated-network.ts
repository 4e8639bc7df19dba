import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import type { BookRepository } from '../../../lib/dynamodb/book-repository.ts';
import { connect, openBooks } from '../../support/book-table.ts';

/** What happens to a request: the milliseconds until it arrives, its response does, and its connection breaks. */
export interface Transmission {
  readonly arrives: number;
  readonly responds: number;
  readonly breaks: number;
}

export const never = Number.POSITIVE_INFINITY;
const healthy: Transmission = { arrives: 1, responds: 1, breaks: never };

/** An instance of a function: its clock is ahead by `skew` milliseconds, and its write tokens ascend. */
export interface Machine {
  readonly skew: number;
  readonly lastToken: { msecs: number; seq: number };
}

/** The machine that runs the current code, and what happens to its next requests. */
export const current = new AsyncLocalStorage<Machine & { readonly transmissions: Transmission[] }>();

/** The requests that the engine works at. The clock stands still until it has none. */
let inEngine = 0;

/** Replaces the clock and the timers of this test. @returns the clock of the world; `Date.now()` is that of a machine */
export function simulateTime(): () => number {
  // The pauses between attempts are those of `node:timers/promises`.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  // The same pauses in each run: a seed has the same histories again.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const readClock = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => readClock() + (current.getStore()?.skew ?? 0));
  return readClock;
}

export function sleep(delay: number): Promise<void> {
  return new Promise((resolve) => {
    if (delay < never) setTimeout(resolve, delay);
  });
}

/** Lets the time pass until something is over and nothing is in transit any more. */
export async function passTime(running: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = running.finally(() => {
    isOver = true;
  });
  while (!isOver || vi.getTimerCount() > 0) {
    do await setImmediate();
    while (inEngine > 0);
    vi.advanceTimersToNextTimer();
  }
  await over;
}

/** Opens the books of a table, whose engine is at an endpoint, over a network that does what the current machine says. */
export function openOverNetwork(endpoint: string, tableName: string): BookRepository {
  const client = connect(endpoint);
  const handler = client.config.requestHandler;
  const handle: typeof handler.handle = (request, options) => {
    const { arrives, responds, breaks } = current.getStore()?.transmissions.shift() ?? healthy;
    const respond = async () => {
      await sleep(arrives);
      inEngine += 1;
      const response = await handler.handle(request).finally(() => {
        inEngine -= 1;
      });
      await sleep(responds);
      return response;
    };
    const breakOff = async () => {
      await sleep(breaks);
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    };
    const { abortSignal } = options as { abortSignal: AbortSignal };
    const giveUp = new Promise<never>((_, reject) => {
      abortSignal.addEventListener('abort', () => reject(new Error('aborted')));
    });
    return Promise.race([respond(), breakOff(), giveUp]);
  };
  client.config.requestHandler = { ...handler, handle };
  return openBooks({ client, tableName });
}
