import { expect, test, vi } from 'vitest';
import { bodyFaults, emptyResponse, type Fault, responseToQuery, transportFaults } from '../../fakes/faults.ts';
import { type FaultyService, startFaultyService, underEveryFault } from './faulty-service.ts';
import { failTwice, failUnder, runRound } from './round.ts';

/** The second requests of an endpoint, which a fault of the first would prevent. */
const operations = ['PutItem', 'TransactWriteItems', 'Query'];

/** The requests whose second request is an update. */
const changes = ['PUT', 'DELETE'].flatMap((method) => [`${method} /book/{id}`, `${method} /book/{id} with If-Match`]);

/** Ends all connections, so that the requests of a round open new ones. */
async function closeConnections({ proxy }: FaultyService): Promise<void> {
  proxy.endConnections('closed');
  await expect.poll(() => proxy.countConnections(), { timeout: 60_000 }).toBe(0);
}

/** Runs every round with a fault. Its connections are new, or reused from the round before. */
async function runRounds(service: FaultyService, fault: Fault): Promise<void> {
  const { proxy } = service;
  await closeConnections(service);
  if (!fault.isSlow) await runRound(service, {}, () => proxy.disturb({ fault, attempts: 1 }));
  await runRound(service, { fail: failTwice(fault) }, () => proxy.disturb({ fault, attempts: 2 }));

  await closeConnections(service);
  const fail = failUnder(fault);
  await runRound(service, { fail }, () => proxy.disturb({ fault }));
  await runRound(service);

  // What was stored is found by reading, which the fault leaves alone.
  const isFound = (name: string) => fault.isCarriedOut || !/^POST .book( with a key)?$/.test(name);
  const failAtSecond = (name: string) => (!name.startsWith('GET /books') && isFound(name) ? false : fail(name));
  await runRound(service, { fail: failAtSecond }, () => proxy.disturb({ fault, operations }));
  const failAtWrite = fault.isCarriedOut ? () => false : fail;
  const begin = () => proxy.disturb({ fault, operations: ['UpdateItem'] });
  await runRound(service, { fail: failAtWrite, names: changes }, begin);
}

test(
  'a fault of one or two attempts is invisible, and of all a 503 in time, after which every request succeeds',
  () => underEveryFault([...transportFaults, ...bodyFaults], () => startFaultyService({ isTls: true }), runRounds),
  1_200_000,
);

test('refused connections: 503 in time, and all is well when they end', async () => {
  const service = await startFaultyService();
  await runRound(service, { fail: () => true }, () => service.proxy.refuseConnections());
  await runRound(service);
});

test('an empty response without a checksum makes nothing up', async () => {
  const service = await startFaultyService();
  const expected = { fail: () => true, failures: [404, 500, 503] };
  await runRound(service, expected, () => service.proxy.disturb({ fault: emptyResponse }));
});

test('a response to a Query is not taken for that of a GetItem, which would mean that there is no such item', async () => {
  const service = await startFaultyService();
  const names = ['GET /book/{id}', 'PUT /book/{id} without changes', 'GET /books'];
  const begin = (attempts: number) => () =>
    service.proxy.disturb({ fault: responseToQuery, operations: ['GetItem'], attempts });

  await runRound(service, { names }, begin(2));
  await runRound(service, { names, fail: () => true }, begin(3));
});

test('failures are findings, unless exchanges without a fault were slow', async () => {
  const service = await startFaultyService();
  const expectations = { names: ['GET /book/{id}'], fail: () => true };
  await expect(runRound(service, expectations)).rejects.toThrow('GET /book/{id}: expected');

  vi.spyOn(service.proxy, 'countSlow').mockReturnValueOnce(0).mockReturnValue(1);

  await runRound(service, expectations);
});
