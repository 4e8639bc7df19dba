import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, expect, test, vi } from 'vitest';
import { runSuite } from '../../conformance/run-suite.ts';
import { groupNames } from '../../conformance/suite.ts';
import { type Fate, respond, startFaultyGateway } from '../simulators/faulty-gateway.ts';
import { testSettings } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService();
await local.send('POST', '/book', { title: 'A book of others' });

let [inFlight, mostInFlight] = [0, 0];
let creates = 0;
/** Is called when a book is to be created. */
let onCreate: () => unknown = () => {};

const gateway = await startFaultyGateway(local.baseUrl, decide);
afterAll(() => gateway.stop());

test('a stage with books of others behind API Gateway passes, a few requests at a time, and keeps its books', async () => {
  const before = await listIds();

  const groups = ['bodies', 'lists', 'unknown-paths'];
  const { exitCode, lines } = await smoke(groups);

  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(exitCode).toBe(0);
  expect(mostInFlight).toBeGreaterThan(1);
  expect(mostInFlight).toBeLessThanOrEqual(4);
  expect(await listIds()).toEqual(before);
  expect(lines).toContain('differs from the local service: A body of more than 10 MB is too large');
  expect(lines).toContain('differs from the local service: GET /nowhere is not found with a token, valid or not');
  expect(lines).not.toContain('differs from the local service: GET /nowhere is not found');
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('after %s, the run sends no more cases, and deletes its books', async (signal, exitCode) => {
  const before = await listIds();
  const { AUTH_USERNAME: username = '', AUTH_PASSWORD: password = '' } = testSettings;
  const without = groupNames.filter((name) => name !== 'books').flatMap((name) => ['--without', name]);
  const login = ['--base-url', gateway.baseUrl, '--username', username, '--password', password];
  const child = spawn(process.execPath, ['conformance/main.ts', ...login, ...without], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const interrupted = once(child.stderr, 'data');
  creates = 0;
  onCreate = async () => {
    if (creates === 10) child.kill(signal);
    if (creates >= 10) await interrupted;
  };

  const [status] = await once(child, 'exit');

  onCreate = () => {};
  expect(status).toBe(exitCode);
  // Some were on their way. Without the stop there would be forty.
  expect(creates).toBeLessThan(25);
  expect(await listIds()).toEqual(before);
});

async function smoke(groups: readonly string[]) {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => lines.push(...String(line).split('\n')));
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const exitCode = await runSuite({
    ...{ baseUrl: gateway.baseUrl, username, password, requestsAtOnce: 4, toleratesGateway: true },
    without: groupNames.filter((name) => !groups.includes(name)),
  });
  return { exitCode, lines: lines.map((line) => line.trim()) };
}

async function listIds(): Promise<number[]> {
  const { envelope } = await local.send('GET', '/books');
  return (envelope.data as { id: number }[]).map(({ id }) => id);
}

/** API Gateway's own responses, as they were seen; it passes other requests on. */
async function decide(name: string, headers: IncomingHttpHeaders): Promise<Fate> {
  const bodyBytes = Number(headers['content-length'] ?? 0);
  if (bodyBytes > 10 * 1024 * 1024) {
    const body = 'HTTP content length exceeded 10485760 bytes.';
    return { status: 413, headers: { 'Content-Type': 'text/plain' }, body };
  }
  const isUnknown = !/^\w+ \/(?:token|books?|book\/[^/]+)(?:\?|$)/.test(name);
  if (bodyBytes > 4.4 * 1024 * 1024 || (isUnknown && headers.authorization !== undefined))
    return respond(400, 'Bad request');
  if (name === 'POST /book') {
    creates += 1;
    await onCreate();
  }
  // The suite disconnects after the beginning of a whole list, and sends the next request before the gateway notices.
  if (/^GET \/books(?!.*limit=)/.test(name)) return 'pass';
  inFlight += 1;
  mostInFlight = Math.max(mostInFlight, inFlight);
  return (body) => {
    inFlight -= 1;
    return body;
  };
}
