import { expect, test } from 'vitest';
import { bodyFaults, type Fault, isCarriedOut, transportFaults } from '../../simulators/faulty-proxy.ts';
import { type FaultyService, isSlow, startFaultyService, underEveryFault } from './faulty-service.ts';
import { failUnder, runRound } from './round.ts';

const timeLimitMs = 400_000;

/** The second requests of an endpoint, which a fault of the first would prevent. */
const operations = ['PutItem', 'TransactWriteItems', 'Query'];

/** Ends all connections, so that the requests of a round open new ones. */
async function closeConnections({ proxy }: FaultyService): Promise<void> {
  proxy.endConnections('closed');
  await expect.poll(() => proxy.countConnections(), { timeout: 10_000 }).toBe(0);
}

/** Runs every round with a fault. Its connections are new, or reused from the round before. */
async function runRounds(service: FaultyService, fault: Fault, isTls: boolean): Promise<void> {
  const { proxy } = service;
  if (isTls) await closeConnections(service);
  if (!isTls || !isSlow(fault)) await runRound(service, {}, () => proxy.disturb({ fault, attempts: 1 }));
  if (!isTls) await closeConnections(service);
  // Its two requests and the reads after each lost write take about as long as the function may.
  const isTooLong = (name: string) => (isSlow(fault) && name === 'POST /book with a key' ? undefined : false);
  if (isTls || !isSlow(fault)) {
    await runRound(service, { fail: isTooLong }, () => proxy.disturb({ fault, attempts: 2 }));
  }

  if (isTls) await closeConnections(service);
  const fail = failUnder(fault);
  await runRound(service, { fail }, () => proxy.disturb({ fault }));
  await runRound(service);
  if (!isTls) return;

  // What was stored is found by reading, which the fault leaves alone.
  const isFound = (name: string) => isCarriedOut(fault) || !/^POST .book( with a key)?$/.test(name);
  const failAtSecond = (name: string) => (!name.startsWith('GET /books') && isFound(name) ? false : fail());
  await runRound(service, { fail: failAtSecond }, () => proxy.disturb({ fault, operations }));
}

test(
  'a fault of one or two attempts is invisible, and of all a 503 in time, after which every request succeeds',
  async () => {
    const failures: object[] = [];
    for (const isTls of [true, false]) {
      const faults = isTls ? [...transportFaults, ...bodyFaults] : transportFaults;
      const check = (service: FaultyService, fault: Fault) => runRounds(service, fault, isTls);
      failures.push(await underEveryFault(faults, () => startFaultyService({ isTls }), check));
    }

    expect(failures).toEqual([{}, {}]);
  },
  timeLimitMs,
);

test('refused connections: 503 in time, and all is well when they end', async () => {
  const service = await startFaultyService();
  await runRound(service, { fail: () => true }, () => service.proxy.refuseConnections());
  await runRound(service);
});

test('an engine without checksums that sends other bodies makes nothing up', async () => {
  const service = await startFaultyService({ withoutChecksums: true });
  const faults = bodyFaults.filter((name) => name.endsWith('with no checksum') && !/other|same/.test(name));
  for (const fault of faults) {
    // These mean "no such item" without a checksum.
    const saysNoItem = /^\{(}|"A)/.test(fault);
    const failures = saysNoItem ? [404, 500, 503] : [500, 503];
    await runRound(service, { fail: () => true, failures }, () => service.proxy.disturb({ fault }));
  }
});
