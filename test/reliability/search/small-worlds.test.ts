import './replaced-chance.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { search, timeLimitMs } from './search.ts';
import type { Scenario, Step } from './small-world.ts';
import {
  ahead,
  around,
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

/** What is planted in the repository: a version need not be above others that it has read, or made before. */
const planted = vi.hoisted(() => ({ ignores: '' as '' | 'read' | 'made' }));

vi.mock(import('../../../lib/dynamodb/table/versions.ts'), async (importOriginal) => {
  const { createVersion, ...others } = await importOriginal();
  return {
    ...others,
    createVersion: ([made, read], behindMs) =>
      planted.ignores === 'read'
        ? createVersion([made])
        : createVersion(planted.ignores === 'made' ? [read] : [made, read], behindMs),
  };
});

const scenarios: Readonly<Record<string, Scenario>> = {
  'one client, three updates': { clients: [[update, update, update]], faults: 2 },
  'two updates': { clients: [[update], [update]], faults: 2 },
  'two updates, a clock ahead': { clients: [[update], [update]], faults: 2, clocks: ahead },
  'two updates, a clock that runs backwards': {
    clients: [[update], [update]],
    faults: 2,
    clocks: around,
    backwards: true,
  },
  'three updates, clocks around': { clients: [[update], [update], [update]], faults: 1, clocks: around },
  'two updates by each of two': {
    clients: [
      [update, update],
      [update, update],
    ],
    faults: 1,
    clocks: around,
  },
  'updates and a deletion, clocks around': { clients: [[update], [remove], [update]], faults: 1, clocks: around },
  'an update and a deletion': { clients: [[update], [remove]], faults: 2 },
  'two deletions and an update': { clients: [[remove], [remove], [update]], faults: 1, clocks: around },
  'two deletions': { clients: [[remove], [remove]], faults: 2 },
  'updates of a version': { clients: [[updateFirst], [updateFirst], [update]], faults: 1, clocks: around },
  'updates of one version after another': {
    clients: [
      [updateFirst, updateOwn],
      [update, updateOwn],
    ],
    faults: 1,
    clocks: around,
  },
  'updates of several versions': { clients: [[updateEither], [updateFirst]], faults: 1 },
  'deletion of a version': { clients: [[removeFirst], [updateFirst], [update]], faults: 1, clocks: around },
  creates: { clients: [[create, create], [create]], faults: 1, clocks: around },
  'a create, changes of its book': { clients: [[create], [updateNext], [removeNext]], faults: 1, clocks: around },
  'creates with a key': { clients: [[createWithKey], [createWithKey]], faults: 2, clocks: around },
  'creates with a key, changes of its book': {
    clients: [[createWithKey], [createWithKey, updateNext], [removeNext]],
    faults: 0,
    clocks: around,
  },
  'changes that are too large': { clients: [[enlargeAuthor], [enlargeTitle, emptyTitle]], faults: 1, clocks: around },
};

test.each(Object.entries(scenarios))(
  'no order of events makes a response false: %s',
  async (_name, scenario) => {
    const { states } = await search(scenario);

    expect(states).toBeGreaterThan(100);
  },
  timeLimitMs,
);

/** What a planted fault leads to. A request that the table calls invalid would be a fault of the test. */
const violation = /^(?!.*InvalidRequestError).*(no order of the operations|got a 503|got 500)/;
const toBoth = (part: string, other: string) => (condition: string) => condition.replace(part, `(${part} OR ${other})`);

test.each<[fault: string, scenario: string, alter: (condition: string) => string]>([
  ['a first attempt has no order', 'two updates', toBoth('NOT version >= :new_version', 'attribute_exists(id)')],
  ['a repeat has only an order', 'two updates', toBoth('version = :seen', 'NOT version >= :new_version')],
  ['a repeat has no condition', 'two updates', toBoth('version = :seen', 'attribute_exists(id)')],
  ['an update needs not its version', 'updates of a version', toBoth('version = :seen', 'attribute_exists(id)')],
  [
    'an update changes a tombstone',
    'an update and a deletion',
    toBoth('attribute_not_exists(expiresAt)', 'attribute_exists(id)'),
  ],
  [
    'an update needs no book',
    'a create, changes of its book',
    toBoth('attribute_exists(id)', 'attribute_not_exists(id)'),
  ],
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

test.each([
  ['read', 'three updates, clocks around'],
  ['made', 'two updates, a clock that runs backwards'],
] as const)(
  'the search finds a planted fault: a version is not above what was %s',
  async (kind, scenario) => {
    planted.ignores = kind;
    onTestFinished(() => {
      planted.ignores = '';
    });
    await expect(search(scenarios[scenario] as Scenario)).rejects.toThrow(violation);
  },
  timeLimitMs,
);

test('the search names the error, the file and the line of a bug first', async () => {
  const buggy: Step = () => ({ type: 'update', id: 1, changes: null as never });

  await expect(search({ clients: [[buggy]], faults: 0 })).rejects.toThrow(
    /^A11, a request to update, got 500: TypeError: .*\n.*lib.dynamodb.*\.ts:\d+/,
  );
});
