import { expect, test, vi } from 'vitest';
import { HttpClient } from '../../conformance/http-client.ts';
import { runSuite } from '../../conformance/run-suite.ts';
import { groupNames } from '../../conformance/suite.ts';
import { stageParameters } from '../../serverless/deploy/stage-parameters.ts';
import { endpoints } from '../../serverless/functions.ts';
import { planSmoke } from '../../tools/operations/smoke-plan.ts';
import { startFaultyGateway } from '../simulators/faulty-gateway.ts';
import { testSettings } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

/** The pipeline gives the smoke test ten. */
const maxMinutes = 9;

/** In requests a minute. */
const { minimum: lowestLimit = 0 } = stageParameters.requestsPerAddress.kind;

const local = await useLocalService();

test.each([undefined, 500, 100_000])('with the limit %s of an address, the smoke test runs all cases', (limit) => {
  expect(planSmoke(limit)).toEqual({ without: [] });
});

test('with the lowest limit of an address, the smoke test uses every endpoint and ends in time', async () => {
  const routes = new Set<string>();
  let requests = 0;
  const gateway = await startFaultyGateway(local.baseUrl, (name) => {
    requests += 1;
    routes.add(name.replace(/\?.*/, '').replace(/\/book\/\d+$/, '/book/{id}'));
    return 'pass';
  });
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const { without, requestsPerMinute = 0 } = planSmoke(lowestLimit);
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;

  const { exitCode } = await runSuite({ baseUrl: gateway.baseUrl, username, password, without });
  await gateway.stop();

  expect(exitCode).toBe(0);
  expect(without.length).toBeLessThan(groupNames.length);
  expect(requestsPerMinute).toBeLessThan(lowestLimit);
  expect(requests / requestsPerMinute).toBeLessThan(maxMinutes);
  expect(endpoints.filter(({ event: { method, path } }) => !routes.has(`${method} ${path}`))).toEqual([]);
});

test('requests are sent no faster than their rate allows', async () => {
  let lastArrival = 0;
  const gateway = await startFaultyGateway(local.baseUrl, () => {
    lastArrival = performance.now();
    return 'pass';
  });
  const client = new HttpClient({ baseUrl: gateway.baseUrl, requestsPerMinute: 600 });

  const startedAt = performance.now();
  const requests = Array.from({ length: 6 }, () => client.send({ method: 'GET', path: '/books', headers: {} }));
  await Promise.all(requests);
  client.close();
  await gateway.stop();

  // 100 ms between two requests. A busy machine only makes it more.
  expect(lastArrival - startedAt).toBeGreaterThan(490);
});
