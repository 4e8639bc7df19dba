import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Fault, faults } from '../support/faulty-proxy.ts';
import { type FaultyService, startFaultyService } from './faulty-service.ts';
import { type RequestName, runRound, withoutStorage } from './round.ts';

const healthy = { succeed: () => true, failedWritesMayStay: false };

let service: FaultyService;

beforeAll(async () => {
  service = await startFaultyService();
});

afterAll(async () => {
  await service.stop();
});

/** Late is not too late. */
const harmless: ReadonlySet<Fault> = new Set(['answer delayed']);

describe.each(Object.keys(faults) as Fault[])('%s, as long as it lasts', (fault) => {
  const { carriedOut: failedWritesMayStay } = faults[fault];

  test('every operation: 503 in time where the storage is needed, and all is well when it ends', async () => {
    const succeed = (name: RequestName) => withoutStorage.has(name) || harmless.has(fault);
    await runRound(
      service,
      { succeed, failedWritesMayStay },
      { begin: () => service.proxy.disturb({ fault }), end: () => service.proxy.heal() },
    );
    await runRound(service, healthy);
  });

  test('PutItem and Query: 503 in time for what needs them, and all is well when it ends', async () => {
    const disturbed: RequestName[] = ['POST /book', 'GET /books', 'GET /books, a page'];
    const succeed = (name: RequestName) => !disturbed.includes(name) || harmless.has(fault);
    await runRound(
      service,
      { succeed, failedWritesMayStay },
      {
        begin: () => service.proxy.disturb({ fault, operations: ['PutItem', 'Query'] }),
        end: () => service.proxy.heal(),
      },
    );
    await runRound(service, healthy);
  });
});

test('connections are refused: 503 in time where the storage is needed, and all is well when it ends', async () => {
  await runRound(
    service,
    { succeed: (name) => withoutStorage.has(name), failedWritesMayStay: false },
    { begin: () => service.proxy.refuseConnections(), end: () => service.proxy.heal() },
  );
  await runRound(service, healthy);
});
