import { onTestFinished, vi } from 'vitest';
import { explore } from './explore.ts';
import { describeEvents, type Event, type Scenario, SmallWorld } from './small-world.ts';

/** A world takes seconds of CPU time, and minutes on a busy machine. */
export const timeLimitMs = 600_000;

/** Walks all orders of a small world. @returns how much there was to walk @throws the first violation, with its events */
export async function search(scenario: Scenario) {
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now);
  const { stackTraceLimit } = Error;
  onTestFinished(() => {
    Object.assign(Error, { stackTraceLimit });
  });
  // Most errors are those of refused writes, whose stacks take time and nobody reads.
  Error.stackTraceLimit = 3;
  // No attempt times out by itself.
  vi.stubGlobal('setTimeout', () => 0);
  return explore<Event, SmallWorld>(
    () => SmallWorld.make(scenario),
    (world, events) => {
      const violations = world.judge();
      if (violations.length > 0) throw new Error([...violations, describeEvents(events)].join('\n'));
    },
  );
}
