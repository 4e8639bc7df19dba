import { expect, test } from 'vitest';
import { inParallel } from '../../../conformance/in-parallel.ts';

test('runs are in flight up to a number, and their results are in order', async () => {
  let [running, most] = [0, 0];
  const results = await inParallel(5, 2, async (index) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return index;
  });
  expect([results, most]).toEqual([[0, 1, 2, 3, 4], 2]);
});

test('a failure is thrown when all runs have ended', async () => {
  const ended: number[] = [];
  const runs = inParallel(3, 3, async (index) => {
    if (index === 0) throw new Error('the first one');
    await new Promise(setImmediate);
    ended.push(index);
  });
  await expect(runs).rejects.toThrow('the first one');
  expect(ended).toEqual([1, 2]);
});
