import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often something is killed: ten times, or as often as CRASH_ROUNDS says. */
export const rounds = Number(process.env.CRASH_ROUNDS ?? 10);

const minLoadMs = 300;
const maxLoadMs = 2_500;

/** Waits for the moment of a crash, at random. */
export async function waitForCrash(): Promise<void> {
  await sleep(randomInt(minLoadMs, maxLoadMs));
}
