import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Fault, faults } from '../support/faulty-proxy.ts';
import { type FaultyService, startFaultyService } from './faulty-service.ts';
import { runRound } from './round.ts';

/** A second request of an endpoint to the storage, which a fault of the first would keep from happening. */
const secondOperations = ['PutItem', 'Query'];

let service: FaultyService;

const isCarriedOut = (fault: Fault) => faults[fault].carriedOut;
const kinds = [
  ['not carried out', (Object.keys(faults) as Fault[]).filter((fault) => !isCarriedOut(fault))],
  ['carried out', (Object.keys(faults) as Fault[]).filter(isCarriedOut)],
] as const;

// A service for each half, as the SDK gives up sending again when it had to do so too often in a while.
describe.each(kinds)('a request that is %s', (_kind, faultsOfKind) => {
  beforeAll(async () => {
    service = await startFaultyService();
  });

  afterAll(async () => {
    await service?.stop();
  });

  describe.each(faultsOfKind)('%s', (fault) => {
    describe.each([1, 2])(
      'at %i of the three attempts that the service makes at each request',
      (attempts) => {
        test.each([
          ['every operation', undefined],
          [secondOperations.join(' and '), secondOperations],
        ])('%s: no client notices', async (_name, operations) => {
          await runRound(
            service,
            { succeed: () => true, failedWritesMayStay: false },
            {
              begin: () => service.proxy.disturb({ fault, attempts, ...(operations && { operations }) }),
              end: () => service.proxy.heal(),
            },
          );
        });
      },
    );
  });
});
