import { describe, test } from 'vitest';
import { type Fault, faults } from '../../simulators/faulty-proxy.ts';
import { startServiceForGroup } from './faulty-service.ts';
import { type RequestName, runRound, withoutStorage } from './round.ts';

const healthy = { succeed: () => true, failedWritesMayStay: false };

/** Late is not too late. */
const harmless: ReadonlySet<Fault> = new Set(['response delayed']);

describe.each(Object.keys(faults) as Fault[])('%s, as long as it lasts', (fault) => {
  const { carriedOut: failedWritesMayStay } = faults[fault];

  const currentService = startServiceForGroup();

  test('every operation: 503 in time where the storage is needed, and all is well when it ends', async () => {
    const service = currentService();
    const succeed = (name: RequestName) => withoutStorage.has(name) || harmless.has(fault);
    await runRound(
      service,
      { succeed, failedWritesMayStay },
      { begin: () => service.proxy.disturb({ fault }), end: () => service.proxy.heal() },
    );
    await runRound(service, healthy);
  });

  test('PutItem and Query: 503 in time for what needs them, and all is well when it ends', async () => {
    const service = currentService();
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

describe('connections are refused', () => {
  const currentService = startServiceForGroup();

  test('every operation: 503 in time where the storage is needed, and all is well when it ends', async () => {
    const service = currentService();
    await runRound(
      service,
      { succeed: (name) => withoutStorage.has(name), failedWritesMayStay: false },
      { begin: () => service.proxy.refuseConnections(), end: () => service.proxy.heal() },
    );
    await runRound(service, healthy);
  });
});
