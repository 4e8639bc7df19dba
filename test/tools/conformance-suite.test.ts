import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { groupNames } from '../../conformance/suite.ts';
import { type Fate, respond, startFaultyGateway } from '../simulators/faulty-gateway.ts';
import { startCommand, testSettings } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService();

/** Starts a run of one group of the suite. */
function startGroup(group: string, baseUrl: string, password: string = testSettings.AUTH_PASSWORD) {
  const without = groupNames.filter((name) => name !== group).flatMap((name) => ['--without', name]);
  const access = ['--base-url', baseUrl, '--username', testSettings.AUTH_USERNAME, '--password', password];
  return startCommand(['conformance/main.ts', ...access, ...without], process.env, '.');
}

/** Runs one group of the suite. */
const runGroup = (...run: Parameters<typeof startGroup>) => startGroup(...run).ended;

/** Starts a gateway with faults before the service, for the current test. */
async function openGateway(decide: (name: string) => Fate) {
  const gateway = await startFaultyGateway(local.baseUrl, decide);
  onTestFinished(() => gateway.stop());
  return gateway;
}

test('a run that cannot delete its books names them, and does not succeed', async () => {
  const refuse = (name: string) => (name.startsWith('DELETE ') ? respond(503, 'Service unavailable') : 'pass');
  const gateway = await openGateway(refuse);

  const { exitCode, output } = await runGroup('fields', gateway.baseUrl);

  expect(output).toMatch(/^Books that could not be deleted: \d+/m);
  expect(output).toMatch(/^\d+ passed, 0 failed, /m);
  expect(exitCode).toBe(1);
});

test('a run with a wrong password says so', async () => {
  const { exitCode, output } = await runGroup('fields', local.baseUrl, 'wrong');

  const problem = `it does not accept the username ${testSettings.AUTH_USERNAME} with this password`;
  expect(output).toBe(`The service at ${local.baseUrl} cannot be tested: ${problem}\n`);
  expect(exitCode).toBe(1);
});

test('a run sends a request again when the stage throttles it', async () => {
  let requests = 0;
  const headers = { 'Retry-After': '1', 'x-amzn-RequestId': 'an id' };
  const throttle = () => {
    requests += 1;
    return requests <= 2 ? respond(429, 'Too many requests', headers) : 'pass';
  };
  const gateway = await openGateway(throttle);

  const { exitCode, output } = await runGroup('request-ids', gateway.baseUrl);

  expect(output).toMatch(/^1 passed, 0 failed, /m);
  expect(exitCode).toBe(0);
});

/** Refuses the creates of a run, and says when to try again. */
const throttleCreates = (seconds: number) => (name: string) =>
  name === 'POST /book'
    ? respond(429, 'Too many requests', { 'Retry-After': `${seconds}`, 'x-amzn-RequestId': 'an id' })
    : 'pass';

test('a run does not wait for more than a minute: its cases fail', async () => {
  const gateway = await openGateway(throttleCreates(61));

  const { exitCode, output } = await runGroup('fields', gateway.baseUrl);

  expect(output).toMatch(/, [1-9]\d* failed, /);
  expect(exitCode).toBe(1);
});

test('a stop signal ends the wait of a throttled run', async () => {
  const { promise: throttled, resolve } = Promise.withResolvers<void>();
  const gateway = await openGateway((name) => {
    if (name === 'POST /book') resolve();
    return throttleCreates(60)(name);
  });

  const run = startGroup('fields', gateway.baseUrl);
  await throttled;
  // The response arrives, and the wait begins.
  await wait(100);
  run.child.kill('SIGTERM');

  expect((await run.ended).exitCode).toBe(143);
});

test('what is not JSON is shown without control characters', async () => {
  const body = '<html>\u001b[2J\r\n::error::\u009b31m</html>';
  const gateway = await openGateway(() => ({ status: 502, headers: { 'Content-Type': 'text/html' }, body }));

  const { output } = await runGroup('fields', gateway.baseUrl);

  expect(output).toContain('502 <html> [2J ::error:: 31m</html>: ');
});
