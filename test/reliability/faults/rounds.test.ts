import { test } from 'vitest';
import { bodyFaults, emptyResponse, responseToQuery, transportFaults } from '../../simulators/faults.ts';
import { startFaultyService } from './faulty-service.ts';
import { runRound } from './round.ts';
import { checkFaults, timeLimitMs } from './rounds.ts';

test(
  'a fault of one or two attempts is invisible, and of all a 503 in time, after which every request succeeds',
  () => checkFaults([...transportFaults, ...bodyFaults], true),
  timeLimitMs,
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
