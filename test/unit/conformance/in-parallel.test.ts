import { expect, test } from 'vitest';
import { inParallel } from '../../../conformance/in-parallel.ts';

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
