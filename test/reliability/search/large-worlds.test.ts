import './replaced-chance.ts';
import { expect, test } from 'vitest';
import { search, timeLimitMs } from './search.ts';
import type { Scenario } from './small-world.ts';
import {
  create,
  createWithKey,
  find,
  remove,
  removeNext,
  removeOf,
  update,
  updateFirst,
  updateNext,
  updateOf,
} from './steps.ts';

/** What is too slow for small-worlds.test.ts and small-worlds-of-lists.test.ts. */
const scenarios: Readonly<Record<string, Scenario>> = {
  'three updates, two faults': { clients: [[update], [update], [update]], faults: 2 },
  'updates and a deletion, two faults': { clients: [[update], [remove], [update]], faults: 2 },
  'a create, changes of its book, two faults': {
    clients: [[create], [updateNext], [removeNext]],
    faults: 2,
  },
  'updates of a version, two faults': { clients: [[updateFirst], [update]], faults: 2 },
  'creates, two faults': { clients: [[create, create], [create]], faults: 2 },
  'three creates with a key, two faults': {
    clients: [[createWithKey], [createWithKey], [createWithKey]],
    faults: 2,
  },
  'creates with a key, changes of its book, a fault': {
    clients: [[createWithKey], [createWithKey, updateNext], [removeNext]],
    faults: 1,
  },
  'books of a filter that begin and cease to match, two faults': {
    ids: [1, 2, 10_000],
    itemsOfPage: 1,
    clients: [[find({ year: 0 })], [updateOf(2)], [removeOf(1)]],
    faults: 2,
    faulty: 1,
  },
  'a page of a filter, two faults': {
    ids: [1, 2, 10_000],
    itemsOfPage: 1,
    clients: [[find({ title: 'first' }, 2)], [removeOf(1)], [create]],
    faults: 2,
    faulty: 1,
  },
};

test.each(Object.entries(scenarios))(
  'no order of events makes a response false: %s',
  async (name, scenario) => {
    const { executions, states } = await search(scenario);

    console.log(`${name}: ${executions} executions, ${states} states`);
    expect(states).toBeGreaterThan(100);
  },
  timeLimitMs,
);
