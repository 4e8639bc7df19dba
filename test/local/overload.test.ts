import { expect, test } from 'vitest';
import { useLocalService } from './use-local-service.ts';

/** More than the engine carries out within the time of one attempt at a request. */
const creates = 3_000;
const lists = 40;

const local = await useLocalService();

test('thousands of creates at once, and dozens of lists of their books, are slow and all succeed', async () => {
  const create = async (year: number) => (await local.send('POST', '/book', { title: 'x', year })).status;
  const statuses = await Promise.all(Array.from({ length: creates }, (_, year) => create(year)));
  expect(new Set(statuses)).toEqual(new Set([201]));

  const list = async () => {
    const response = await fetch(`${local.baseUrl}/books`, { headers: local.headers });
    return ((await response.json()) as { data: readonly unknown[] }).data.length;
  };
  const lengths = await Promise.all(Array.from({ length: lists }, list));
  expect(new Set(lengths)).toEqual(new Set([creates]));
}, 180_000);
