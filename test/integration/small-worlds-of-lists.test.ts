import '../reliability/search/replaced-chance.ts';
import { expect, test } from 'vitest';
import { search, timeLimitMs } from '../reliability/search/search.ts';
import type { Setting } from '../reliability/search/small-world.ts';
import { create, list, listAfter, page, removeOf, updateOf } from '../reliability/search/steps.ts';

/** Worlds whose faults are those of the first client, which lists. 9,999 is the last id of the first shard. */
const settings: Readonly<Record<string, Omit<Setting, 'faulty'>>> = {
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
  'a page of books that do not fit in memory': {
    ids: [1, 2, 3, 4],
    itemsOfPage: 1,
    maxHeldCharacters: 1,
    clients: [[page(3)], [removeOf(3)], [removeOf(2)]],
    faults: 0,
  },
  'a page of books that do not fit in memory, and a create': {
    ids: [9_997, 9_998, 9_999],
    itemsOfPage: 1,
    maxHeldCharacters: 1,
    clients: [[page(3)], [create], [removeOf(9_999)]],
    faults: 0,
  },
  'a page whose books just do not fit in memory': {
    ids: [1, 2, 10_000],
    itemsOfPage: 1,
    maxHeldCharacters: 1,
    clients: [[page(1)], [removeOf(1)], [create]],
    faults: 0,
  },
};

test.each(Object.entries(settings))(
  'no order of events makes a list false: %s',
  async (_name, setting) => {
    const { states } = await search({ ...setting, faulty: 1 });

    expect(states).toBeGreaterThan(50);
  },
  timeLimitMs,
);
