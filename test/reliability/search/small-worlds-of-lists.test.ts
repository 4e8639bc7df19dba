import './replaced-chance.ts';
import { expect, test } from 'vitest';
import { search, timeLimitMs } from './search.ts';
import type { Scenario } from './small-world.ts';
import { create, find, list, listAfter, page, removeOf, updateOf } from './steps.ts';

/** Worlds whose faults are those of the first client, which lists. 9,999 is the last id of the first shard. */
const scenarios: Readonly<Record<string, Omit<Scenario, 'faulty'>>> = {
  'creates in two shards': { ids: [9_998], itemsOfPage: 1, clients: [[list], [create], [create]], faults: 0 },
  'creates one after the other': { ids: [9_998], itemsOfPage: 2, clients: [[list], [create, create]], faults: 1 },
  'two lists, and the first book of a shard': { ids: [9_999], clients: [[list, list], [create]], faults: 0 },
  'the first books of a table': { ids: [], itemsOfPage: 1, clients: [[list], [create, create]], faults: 1 },
  'a deletion and an update': {
    ids: [1, 2, 10_000, 20_000],
    itemsOfPage: 1,
    clients: [[list], [removeOf(1)], [updateOf(10_000)]],
    faults: 0,
  },
  'a list that breaks off': { ids: [1, 2, 10_000], itemsOfPage: 1, clients: [[list], [removeOf(1)]], faults: 1 },
  'a list that fails': { ids: [1, 2, 10_000], itemsOfPage: 1, clients: [[list]], faults: 3 },
  'a list after an id': {
    ids: [9_998, 9_999, 10_000],
    itemsOfPage: 1,
    clients: [[listAfter(9_998)], [create], [removeOf(9_999)]],
    faults: 0,
  },
  'a page and deletions': { ids: [1, 2, 10_000], clients: [[page(1)], [removeOf(1)], [removeOf(2)]], faults: 1 },
  'a page, a create and a deletion': { ids: [1, 9_999], clients: [[page(2)], [create], [removeOf(1)]], faults: 1 },
  'a page of several Queries': {
    ids: [1, 2, 3, 9_999],
    itemsOfPage: 2,
    clients: [[page(2, 1)], [create], [removeOf(3)]],
    faults: 1,
  },
  'two pages': {
    ids: [1, 2, 3],
    itemsOfPage: 1,
    clients: [[page(1), page(1, 1)], [create], [removeOf(2)]],
    faults: 0,
  },
  'a filter, a create and a deletion': {
    ids: [1, 2, 10_000],
    itemsOfPage: 1,
    clients: [[find({ title: 'first' })], [create], [removeOf(2)]],
    faults: 0,
  },
  'a filter, with a lost response': { ids: [1, 2, 10_000], clients: [[find({ year: 0 })], [updateOf(1)]], faults: 1 },
  'a filter, and books that begin and cease to match': {
    ids: [1, 10_000],
    clients: [[find({ year: 0 }), find({ year: 21 })], [updateOf(10_000)], [removeOf(1)]],
    faults: 0,
  },
  'a filter that only a new book matches': {
    ids: [9_998],
    itemsOfPage: 1,
    clients: [[find({ title: 'book' })], [create, create]],
    faults: 1,
  },
  'a page with a filter': {
    ids: [1, 2, 3, 10_000],
    itemsOfPage: 1,
    clients: [[find({ year: 0 }, 1)], [updateOf(2)], [removeOf(3)]],
    faults: 0,
  },
  'the next page with a filter': {
    ids: [1, 2, 10_000],
    itemsOfPage: 2,
    clients: [[find({ title: 'first' }, 1), find({ title: 'first' }, 1, 1)], [create], [removeOf(2)]],
    faults: 0,
  },
  'a page with a filter that breaks off': {
    ids: [1, 2, 10_000],
    itemsOfPage: 1,
    clients: [[find({ year: 0 }, 2)], [updateOf(1)]],
    faults: 1,
  },
  'a page with a filter that fails': {
    ids: [1, 2, 10_000],
    itemsOfPage: 1,
    clients: [[find({ title: 'x' }, 1)]],
    faults: 3,
  },
};

test.each(Object.entries(scenarios))(
  'no order of events makes a list false: %s',
  async (_name, scenario) => {
    const { states } = await search({ ...scenario, faulty: 1 });

    expect(states).toBeGreaterThan(50);
  },
  timeLimitMs,
);
