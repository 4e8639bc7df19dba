import { test } from 'vitest';
import { transportFaults } from '../../simulators/faults.ts';
import { checkFaults, timeLimitMs } from './rounds.ts';

test(
  'over HTTP, a fault of one or two attempts is invisible, and of all a 503 in time, after which every request succeeds',
  () => checkFaults(transportFaults, false),
  timeLimitMs,
);
