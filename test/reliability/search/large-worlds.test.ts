import './replaced-chance.ts';
import { expect, test } from 'vitest';
import { search, timeLimitMs } from './search.ts';
import type { Setting } from './small-world.ts';
import { around, behind, create, remove, removeNext, update, updateNext } from './steps.ts';

/** What is too slow for test/integration/small-worlds.test.ts. */
const settings: Readonly<Record<string, Setting>> = {
  'three updates, clocks behind, two faults': { clients: [[update], [update], [update]], faults: 2, clocks: behind },
  'four updates': { clients: [[update], [update], [update], [update]], faults: 1, clocks: [0, -1, -2, -3], faulty: 1 },
  'updates and a deletion': { clients: [[update], [remove], [update]], faults: 1 },
  'a create, changes of its book, two faults': {
    clients: [[create], [updateNext], [removeNext]],
    faults: 2,
    clocks: around,
  },
};

test.each(Object.entries(settings))(
  'no order of events makes a response false: %s',
  async (name, setting) => {
    const { executions, states } = await search(setting);

    console.log(`${name}: ${executions} executions, ${states} states`);
    expect(states).toBeGreaterThan(100);
  },
  timeLimitMs,
);
