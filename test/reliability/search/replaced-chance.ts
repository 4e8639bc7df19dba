import { vi } from 'vitest';
import { makeVersion } from './small-world.ts';

vi.mock(import('node:crypto'), async (importOriginal) => ({
  ...(await importOriginal()),
  randomUUID: () => makeVersion() as ReturnType<typeof crypto.randomUUID>,
}));

// The pauses between attempts end at once: what happens meanwhile is a matter of order.
vi.mock(import('node:timers/promises'), async (importOriginal) => {
  const timers = await importOriginal();
  return { ...timers, setTimeout: (async () => {}) as typeof timers.setTimeout };
});
