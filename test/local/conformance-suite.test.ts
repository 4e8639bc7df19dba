import { expect, onTestFinished, test } from 'vitest';
import { groupNames } from '../../conformance/suite.ts';
import { respond, startFaultyGateway } from '../simulators/faulty-gateway.ts';
import { startCommand, testSettings } from '../support/local-service.ts';
import { useLocalService } from './use-local-service.ts';

const local = await useLocalService();

/** Runs one group of the suite. */
function runGroup(group: string, baseUrl: string, password: string = testSettings.AUTH_PASSWORD) {
  const without = groupNames.filter((name) => name !== group).flatMap((name) => ['--without', name]);
  const access = ['--base-url', baseUrl, '--username', testSettings.AUTH_USERNAME, '--password', password];
  return startCommand(['conformance/main.ts', ...access, ...without], process.env, '.').ended;
}

test('a run that cannot delete its books names them, and does not succeed', async () => {
  const refuse = (name: string) => (name.startsWith('DELETE ') ? respond(503, 'Service unavailable') : 'pass');
  const gateway = await startFaultyGateway(local.baseUrl, refuse);
  onTestFinished(() => gateway.stop());

  const { exitCode, output } = await runGroup('fields', gateway.baseUrl);

  expect(output).toMatch(/^Books that could not be deleted: \d+/m);
  expect(output).toMatch(/^\d+ passed, 0 failed, /m);
  expect(exitCode).toBe(1);
});

test('a run whose case fails does not succeed', async () => {
  const alter = (name: string) =>
    name.startsWith('POST /book') ? (body: string) => body.replace('Book', 'A book') : 'pass';
  const gateway = await startFaultyGateway(local.baseUrl, alter);
  onTestFinished(() => gateway.stop());

  const { exitCode, output } = await runGroup('fields', gateway.baseUrl);

  expect(output).toMatch(/, [1-9]\d* failed, /);
  expect(exitCode).toBe(1);
});

test('a run with a wrong password says so', async () => {
  const { exitCode, output } = await runGroup('fields', local.baseUrl, 'wrong');

  const problem = `it does not accept the username ${testSettings.AUTH_USERNAME} with this password`;
  expect(output).toBe(`The service at ${local.baseUrl} cannot be tested: ${problem}\n`);
  expect(exitCode).toBe(1);
});
