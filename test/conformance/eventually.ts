import { setTimeout as sleep } from 'node:timers/promises';
import { ExpectationError } from './expectation.ts';

/** Far longer than other cases of a group, or other clients, change the catalog without a pause. */
const patienceMs = 20_000;

/** Grows, so that a look falls between the changes of others sooner or later. */
const firstPauseMs = 10;

/**
 * Repeats a check until it holds, for what others can make untrue between two looks at the catalog.
 *
 * @param check - looks once
 * @throws {ExpectationError} that of the last look, when none held
 */
export async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 1.5) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof ExpectationError) || Date.now() + pauseMs > deadline) throw error;
    }
    await sleep(pauseMs);
  }
}
