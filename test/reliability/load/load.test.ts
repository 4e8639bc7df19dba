import { expect, test } from 'vitest';
import { useLocalService } from '../../support/use-local-service.ts';
import { checkHistory } from '../check-history.ts';
import { Workload } from '../workload.ts';

const seconds = Number(process.env.LOAD_SECONDS ?? 30);
const clients = 50;

const { baseUrl } = await useLocalService();

test(`${clients} clients for ${seconds} s: every response is right, and the whole catalog at the end`, {
  timeout: (seconds + 120) * 1000,
}, async () => {
  const mix = { get: 80, list: 10, update: 6, create: 2, repeat: 1, delete: 1 };
  const workload = new Workload({ clients, booksInUse: 200, mix });
  await workload.run(baseUrl, AbortSignal.timeout(seconds * 1000));

  expect(await workload.list(baseUrl)).toBe(200);
  const { operations } = workload;
  expect(operations.filter(({ returned }) => returned === Number.POSITIVE_INFINITY)).toEqual([]);
  expect(checkHistory(operations)).toEqual([]);
  console.log(`${operations.length} responses`);
});
