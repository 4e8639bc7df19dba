import { describe, test } from 'vitest';
import { type Fault, faults } from '../../simulators/faulty-proxy.ts';
import { startServiceForGroup } from './faulty-service.ts';
import { runRound } from './round.ts';

/** A second request of an endpoint to the storage, which a fault of the first would keep from happening. */
const secondOperations = ['PutItem', 'Query'];

describe.each(Object.keys(faults) as Fault[])('%s', (fault) => {
  const currentService = startServiceForGroup();

  describe.each([1, 2])('at %i of the three attempts that the service makes at each request', (attempts) => {
    test.each([
      ['every operation', undefined],
      [secondOperations.join(' and '), secondOperations],
    ])('%s: no client notices', async (_name, operations) => {
      const service = currentService();
      await runRound(
        service,
        { succeed: () => true, failedWritesMayStay: false },
        {
          begin: () => service.proxy.disturb({ fault, attempts, ...(operations && { operations }) }),
          end: () => service.proxy.heal(),
        },
      );
    });
  });
});
