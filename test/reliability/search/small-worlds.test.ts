import './replaced-chance.ts';
import { expect, test } from 'vitest';
import { search, timeLimitMs } from './search.ts';
import type { Scenario, Step } from './small-world.ts';
import {
  create,
  createWithKey,
  emptyTitle,
  enlargeAuthor,
  enlargeTitle,
  remove,
  removeFirst,
  removeNext,
  update,
  updateEither,
  updateFirst,
  updateNext,
  updateOwn,
} from './steps.ts';

const scenarios: Readonly<Record<string, Scenario>> = {
  'one client, three updates': { clients: [[update, update, update]], faults: 2 },
  'two updates': { clients: [[update], [update]], faults: 2 },
  'three updates': { clients: [[update], [update], [update]], faults: 1 },
  'two updates by each of two': {
    clients: [
      [update, update],
      [update, update],
    ],
    faults: 1,
  },
  'updates and a deletion': { clients: [[update], [remove], [update]], faults: 1 },
  'an update and a deletion': { clients: [[update], [remove]], faults: 2 },
  'two deletions and an update': { clients: [[remove], [remove], [update]], faults: 1 },
  'two deletions': { clients: [[remove], [remove]], faults: 2 },
  'updates of a version': { clients: [[updateFirst], [updateFirst], [update]], faults: 1 },
  'updates of one version after another': {
    clients: [
      [updateFirst, updateOwn],
      [update, updateOwn],
    ],
    faults: 1,
  },
  'updates of several versions': { clients: [[updateEither], [updateFirst]], faults: 1 },
  'deletion of a version': { clients: [[removeFirst], [updateFirst], [update]], faults: 1 },
  creates: { clients: [[create, create], [create]], faults: 1 },
  'a create, changes of its book': { clients: [[create], [updateNext], [removeNext]], faults: 1 },
  'creates with a key': { clients: [[createWithKey], [createWithKey]], faults: 2 },
  'creates with a key, changes of its book': {
    clients: [[createWithKey], [createWithKey, updateNext], [removeNext]],
    faults: 0,
  },
  'changes that are too large': { clients: [[enlargeAuthor], [enlargeTitle, emptyTitle]], faults: 1 },
};

test.each(Object.entries(scenarios))(
  'no order of events makes a response false: %s',
  async (_name, scenario) => {
    const { states } = await search(scenario);

    expect(states).toBeGreaterThan(50);
  },
  timeLimitMs,
);

/** What a planted fault leads to. A request that the table calls invalid would be a fault of the test. */
const violation = /^(?!.*InvalidRequestError).*(no order of the operations|got a 503|got 500)/;
const toBoth = (part: string, other: string) => (condition: string) => condition.replace(part, `(${part} OR ${other})`);

test.each<[fault: string, scenario: string, alter: (condition: string) => string]>([
  ['an update replaces any version', 'two updates', toBoth('version = :old', 'attribute_exists(id)')],
  [
    'a create replaces a book',
    'a create, changes of its book',
    (text) => text.replace(/^attribute_not_exists\(id\)$/, 'attribute_not_exists(otherAttribute)'),
  ],
  [
    'a create replaces an idempotency record',
    'creates with a key',
    toBoth('NOT expiresAt > :now', 'attribute_exists(id)'),
  ],
])(
  'the search finds a planted fault: %s',
  async (_fault, scenario, alter) => {
    await expect(search({ ...(scenarios[scenario] as Scenario), alter })).rejects.toThrow(violation);
  },
  timeLimitMs,
);

test('the search names the error, the file and the line of a bug first', async () => {
  const buggy: Step = () => ({ type: 'update', id: 1, changes: { year: 1 }, ifMatch: 1 as never });

  await expect(search({ clients: [[buggy]], faults: 0 })).rejects.toThrow(
    /^A11, a request to update, got 500: TypeError: .*\n.*lib.dynamodb.*\.ts:\d+/,
  );
});
