import { describe, test } from 'vitest';
import { type Fault, faults } from '../../simulators/faulty-proxy.ts';
import { startFaultyService, underEveryFault } from './faulty-service.ts';
import { runRound, withoutStorage } from './round.ts';

/** A delayed response within the timeout succeeds. */
const harmless: Fault = 'response delayed';

/** A round sends many requests at once. */
const servicesAtOnce = 6;

/** The slowest faults reach every timeout. */
const timeLimitMs = 150_000;

/** `PutItem` and `Query` are second requests of an endpoint, which a fault of the first would prevent. */
describe.each([
  ['every operation over HTTPS', true, undefined, undefined],
  ['every operation over HTTP', false, undefined, undefined],
  ['PutItem and Query', true, ['PutItem', 'Query'], ['POST /book', 'GET /books', 'GET /books, a page']],
])('every fault at %s', (_name, isTls, operations, disturbed) => {
  test.each([1, 2])(
    'at %i of the three attempts at each request: no client notices',
    async (attempts) => {
      await underEveryFault(
        (service, fault) =>
          runRound(service, {}, () =>
            service.proxy.disturb({ fault, attempts, ...(operations && { operations }) }),
          ),
        { servicesAtOnce, isTls },
      );
    },
    timeLimitMs,
  );

  test(
    'as long as it lasts: 503 in time where the storage is needed, and all is well when it ends',
    async () => {
      const needsStorage = (name: string) => disturbed?.includes(name) ?? !withoutStorage.includes(name);
      await underEveryFault(
        async (service, fault) => {
          // What was stored is found by reading, which the fault leaves alone.
          const isFound = (name: string) => operations && faults[fault].carriedOut && name === 'POST /book';
          const succeed = (name: string) =>
            !needsStorage(name) || fault === harmless || Boolean(isFound(name));
          await runRound(
            service,
            { succeed, failedWritesMayStay: faults[fault].carriedOut || fault === 'request held' },
            () => service.proxy.disturb({ fault, ...(operations && { operations }) }),
          );
          await runRound(service);
        },
        { servicesAtOnce, isTls },
      );
    },
    timeLimitMs,
  );
});

test('refused connections: 503 in time where the storage is needed, and all is well when they end', async () => {
  const service = await startFaultyService();
  const succeed = (name: string) => withoutStorage.includes(name);
  await runRound(service, { succeed }, () => service.proxy.refuseConnections());
  await runRound(service);
});
