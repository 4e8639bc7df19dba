import { expect, test } from 'vitest';
import { inParallel } from '../../conformance/in-parallel.ts';
import { useLocalService } from '../support/use-local-service.ts';

const creates = 3_000;

/** More than the engine carries out within the time of one attempt, and fewer connections than the system lets wait. */
const createsAtOnce = 400;

const lists = 40;

const local = await useLocalService();

test('hundreds of creates at once, and dozens of lists of all books, are slow and all succeed', async () => {
  const create = async (year: number) => {
    const body = JSON.stringify({ title: 'x', year });
    // The client of the suite has few connections, and a timeout that a busy machine exceeds.
    const response = await fetch(`${local.baseUrl}/book`, { method: 'POST', headers: local.headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses = await inParallel(creates, createsAtOnce, create);
  expect(new Set(statuses)).toEqual(new Set([201]));

  const list = async () => {
    const response = await fetch(`${local.baseUrl}/books`, { headers: local.headers });
    return ((await response.json()) as { data: readonly unknown[] }).data.length;
  };
  const lengths = await Promise.all(Array.from({ length: lists }, list));
  expect(new Set(lengths)).toEqual(new Set([creates]));
}, 180_000);
