import { expect, test } from 'vitest';
import {
  absurdResponses,
  bodyFaults,
  canceledByConflict,
  emptyResponses,
  type Fault,
  responseOfAnother,
  responseToQuery,
  switchingProtocols,
  transportFaults,
} from '../../simulators/faults.ts';
import { emma } from '../../support/book-table.ts';
import { type FaultyService, startFaultyService, underEveryFault } from './faulty-service.ts';
import { failOnce, failTwice, failUnder, runRound } from './round.ts';

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
  for (const fault of [...absurdResponses, ...emptyResponses]) {
    const failures = emptyResponses.includes(fault) ? [404, 500, 503] : [500, 503];
    await runRound(service, { fail: failUnder(fault), failures }, () => service.proxy.disturb({ fault }));
  }
});

test('eight responses that switch protocols stop nothing: the requests after them succeed', async () => {
  const service = await startFaultyService();
  const { proxy, table, ask } = service;
  const { id } = await table.repository.create(emma);
  proxy.injectFault('GetItem', switchingProtocols, 8);

  const first = await Promise.all(Array.from({ length: 8 }, () => ask('GET', `/book/${id}`)));

  expect(first.map(({ status }) => status)).toEqual(Array(8).fill(200));
  await runRound(service);
});

test('a create with a key whose transaction meets another one is carried out', async () => {
  const service = await startFaultyService();
  for (const times of [1, 2]) {
    service.proxy.injectFault('TransactWriteItems', canceledByConflict, times);
    await runRound(service, { names: ['POST /book with a key'] });
  }
});

test('a response to the request for another book is not taken for that of this one', async () => {
  const service = await startFaultyService();
  const names = [
    'GET /book/{id}',
    'PUT /book/{id} without changes',
    'PUT /book/{id} with an invalid body',
    'GET /books',
  ];
  const begin = (attempts: number) => () =>
    service.proxy.disturb({ fault: responseOfAnother, operations: ['GetItem'], attempts });

  await runRound(service, { names }, begin(2));
  await runRound(service, { names: names.slice(0, 3), fail: () => true }, begin(3));
});

test('a response to a Query is not taken for that of a GetItem, which would mean that there is no such item', async () => {
  const service = await startFaultyService();
  const names = ['GET /book/{id}', 'PUT /book/{id} without changes', 'GET /books'];
  const begin = (attempts: number) => () =>
    service.proxy.disturb({ fault: responseToQuery, operations: ['GetItem'], attempts });

  await runRound(service, { names }, begin(2));
  await runRound(service, { names, fail: () => true }, begin(3));
});

test('a write whose connection is reset while it is made secure was not sent, and needs no read', async () => {
  const service = await startFaultyService({ isTls: true });
  const { proxy, table, ask } = service;
  const { id } = await table.repository.create(emma);
  await closeConnections(service);
  proxy.takeRequests();
  proxy.resetHandshakes(2);

  const { status } = await ask('PUT', `/book/${id}`, { year: 1 });

  expect(status).toBe(200);
  expect(proxy.takeRequests().map(({ operation }) => operation)).toEqual(['UpdateItem']);
});
