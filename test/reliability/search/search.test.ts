import { expect, onTestFinished, test, vi } from 'vitest';
import { aBook } from '../../support/a-book.ts';
import { explore } from './explore.ts';
import {
  describeEvents,
  type Event,
  makeUnique,
  readClock,
  type Setting,
  SmallWorld,
  type Step,
} from './small-world.ts';

/** What is planted in the repository: it follows no token that it has read. */
const planted = vi.hoisted(() => ({ ignoresTokens: false }));

vi.mock(import('../../../lib/dynamodb/write-token.ts'), async (importOriginal) => {
  const { createWriteToken, ...others } = await importOriginal();
  return { ...others, createWriteToken: (...earlier) => createWriteToken(...(planted.ignoresTokens ? [] : earlier)) };
});

vi.mock(import('uuid'), async (importOriginal) => {
  const uuid = await importOriginal();
  const v7 = (options?: object) => uuid.v7({ ...makeUnique(), ...options });
  return { ...uuid, v7: v7 as typeof uuid.v7 };
});

// The pauses between attempts end at once: what happens meanwhile is a matter of order.
vi.mock(import('node:timers/promises'), async (importOriginal) => {
  const timers = await importOriginal();
  return { ...timers, setTimeout: (async () => {}) as typeof timers.setTimeout };
});

const id = 1;
const update: Step = (year) => ({ type: 'update', id, changes: { year } });
const updateFirst: Step = (year, { first }) => ({ type: 'update', id, changes: { year }, ifMatch: [first] });
const updateOwn: Step = (year, { own }) => ({ type: 'update', id, changes: { year }, ifMatch: [own] });
const updateEither: Step = (year, { first, own }) => ({
  type: 'update',
  id,
  changes: { year },
  ifMatch: [own, first, '-'],
});
const remove: Step = () => ({ type: 'delete', id });
const removeFirst: Step = (_, { first }) => ({ type: 'delete', id, ifMatch: [first] });
const create: Step = (number) => ({ type: 'create', fields: aBook({ title: `book ${number}` }) });
const createWithKey: Step = () => ({ type: 'create', fields: aBook({ title: 'with a key' }), key: 'key' });
/** Of the book that is created next. */
const updateNext: Step = (year) => ({ type: 'update', id: 2, changes: { year } });
const removeNext: Step = () => ({ type: 'delete', id: 2 });
/** Two of these are too large for one item. */
const large = 'x'.repeat(250_000);
const enlargeTitle: Step = () => ({ type: 'update', id, changes: { title: large } });
const enlargeAuthor: Step = () => ({ type: 'update', id, changes: { author: large } });
const emptyTitle: Step = () => ({ type: 'update', id, changes: { title: '' } });

const hour = 3_600_000;
const ahead = [0, 20_000, 40_000];
const behind = [0, -20_000, -40_000];
const around = [0, -hour, hour];

const settings: Readonly<Record<string, Setting>> = {
  'one client, three updates': { clients: [[update, update, update]], faults: 2 },
  'two updates': { clients: [[update], [update]], faults: 2 },
  'two updates, a clock ahead': { clients: [[update], [update]], faults: 2, clocks: ahead },
  'three updates': { clients: [[update], [update], [update]], faults: 1 },
  'three updates, clocks around': { clients: [[update], [update], [update]], faults: 1, clocks: around },
  'three updates, clocks behind, two faults': { clients: [[update], [update], [update]], faults: 2, clocks: behind },
  'two updates by each of two': {
    clients: [
      [update, update],
      [update, update],
    ],
    faults: 1,
    clocks: around,
  },
  'four updates': { clients: [[update], [update], [update], [update]], faults: 1, clocks: [0, -1, -2, -3], faulty: 1 },
  'updates and a deletion': { clients: [[update], [remove], [update]], faults: 1 },
  'updates and a deletion, clocks around': { clients: [[update], [remove], [update]], faults: 1, clocks: around },
  'an update and a deletion': { clients: [[update], [remove]], faults: 2 },
  'two deletions and an update': { clients: [[remove], [remove], [update]], faults: 1, clocks: around },
  'two deletions': { clients: [[remove], [remove]], faults: 2 },
  'updates of a version': { clients: [[updateFirst], [updateFirst], [update]], faults: 1, clocks: around },
  'updates of a version, two faults': { clients: [[updateFirst], [update]], faults: 2 },
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
  creates: { clients: [[create, create], [create]], faults: 2, clocks: around },
  'a create, changes of its book': { clients: [[create], [updateNext], [removeNext]], faults: 2, clocks: around },
  'creates with a key': { clients: [[createWithKey], [createWithKey], [createWithKey]], faults: 2, clocks: around },
  'creates with a key, changes of its book': {
    clients: [[createWithKey], [createWithKey, updateNext], [removeNext]],
    faults: 1,
    clocks: around,
  },
  'changes that are too large': { clients: [[enlargeAuthor], [enlargeTitle, emptyTitle]], faults: 1, clocks: around },
};

/** Walks all orders of a small world. @returns how much there was to walk @throws the first violation, with its events */
async function search(setting: Setting) {
  const { now } = Date;
  const { stackTraceLimit } = Error;
  onTestFinished(() => {
    Object.assign(Date, { now });
    Object.assign(Error, { stackTraceLimit });
  });
  Object.assign(Date, { now: readClock });
  // Most errors are those of refused writes, and nobody reads their stacks.
  Error.stackTraceLimit = 0;
  // No attempt times out by itself.
  vi.stubGlobal('setTimeout', () => 0);
  return explore<Event, SmallWorld>(
    () => SmallWorld.make(setting),
    (world, events) => {
      const violations = world.judge();
      if (violations.length > 0) throw new Error([...violations, describeEvents(events)].join('\n'));
    },
  );
}

test.each(Object.entries(settings))('no order of events makes a response false: %s', async (name, setting) => {
  const { executions, states } = await search(setting);

  console.log(`${name}: ${executions} executions, ${states} states`);
  expect(states).toBeGreaterThan(100);
});

const violation = /no order of the operations|got a 503|got 500/;
const without = (part: string) => (condition: string) => condition.replace(part, '');

test.each<[fault: string, setting: string, alter: (condition: string) => string]>([
  ['a first attempt has no order', 'two updates', without(' AND NOT writeToken >= :writeToken')],
  [
    'a repeat has only an order',
    'two updates',
    (text) => text.replace('writeToken = :seen', 'NOT writeToken >= :writeToken'),
  ],
  ['a repeat has no condition', 'two updates', without(' AND writeToken = :seen')],
  ['an update needs not its version', 'updates of a version', without(' AND writeToken = :seen')],
  [
    'an update changes what a deletion left',
    'an update and a deletion',
    without('attribute_not_exists(expiresAt) AND '),
  ],
  ['an update needs no book', 'a create, changes of its book', without('attribute_exists(id) AND ')],
  [
    'a create replaces a book',
    'a create, changes of its book',
    (text) => text.replace(/^attribute_not_exists\(id\)$/, 'attribute_not_exists(none)'),
  ],
  [
    'a create replaces a claim',
    'creates with a key',
    (text) => text.replace('NOT expiresAt > :now', 'attribute_not_exists(none)'),
  ],
])('the search finds a planted fault: %s', async (_fault, setting, alter) => {
  await expect(search({ ...(settings[setting] as Setting), alter })).rejects.toThrow(violation);
});

test('the search finds a planted fault: a token is not above what was read', async () => {
  planted.ignoresTokens = true;
  onTestFinished(() => {
    planted.ignoresTokens = false;
  });
  await expect(search(settings['three updates, clocks around'] as Setting)).rejects.toThrow(violation);
});
