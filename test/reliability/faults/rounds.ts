import { expect } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { type FaultyService, startFaultyService, underEveryFault } from './faulty-service.ts';
import { failOnce, failTwice, failUnder, runRound } from './round.ts';

/**
 * Runs rounds under each fault: of one and of two attempts, which no client may notice, and of all attempts, which gives
 * a 503 in time. Then every request has to succeed.
 */
export function checkFaults(faults: readonly Fault[], isTls: boolean): Promise<void> {
  return underEveryFault(
    faults,
    () => startFaultyService({ isTls }),
    (service, fault) => runRounds(service, fault, isTls),
  );
}

/** The time limit of a test of all faults. */
export const timeLimitMs = 1_200_000;

/** The second requests of an endpoint, which a fault of the first would prevent. */
const operations = ['PutItem', 'TransactWriteItems', 'Query'];

/** Ends all connections, so that the requests of a round open new ones. */
async function closeConnections({ proxy }: FaultyService): Promise<void> {
  proxy.endConnections('closed');
  await expect.poll(() => proxy.countConnections(), { timeout: 60_000 }).toBe(0);
}

/** Runs every round with a fault. Its connections are new, or reused from the round before. */
async function runRounds(service: FaultyService, fault: Fault, isTls: boolean): Promise<void> {
  const { proxy } = service;
  if (isTls) await closeConnections(service);
  if (!isTls || !fault.isSlow) await runRound(service, { fail: failOnce }, () => proxy.disturb({ fault, attempts: 1 }));
  if (!isTls) await closeConnections(service);
  // Its two requests and the reads after each lost write take about as long as the function may.
  const isTooLong = (name: string) =>
    fault.isSlow && name === 'POST /book with a key' ? undefined : failTwice(fault)(name);
  if (isTls || !fault.isSlow) {
    await runRound(service, { fail: isTooLong }, () => proxy.disturb({ fault, attempts: 2 }));
  }

  if (isTls) await closeConnections(service);
  const fail = failUnder(fault);
  await runRound(service, { fail }, () => proxy.disturb({ fault }));
  await runRound(service);
  if (!isTls) return;

  // What was stored is found by reading, which the fault leaves alone.
  const isFound = (name: string) => fault.isCarriedOut || !/^POST .book( with a key)?$/.test(name);
  const failAtSecond = (name: string) => (!name.startsWith('GET /books') && isFound(name) ? false : fail(name));
  await runRound(service, { fail: failAtSecond }, () => proxy.disturb({ fault, operations }));
}
