import { vi } from 'vitest';
import { makeUnique } from './small-world.ts';

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
