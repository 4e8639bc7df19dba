import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fieldSchemas } from '../../conformance/a-book.ts';
import { runSuite } from '../../conformance/run-suite.ts';
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

// Each create uses up an id, and leaves an item that the table keeps for days. Each field has values of its own.
test.each([
  ['the whole suite', false, 470 + 10 * fieldSchemas.length],
  ['a smoke test', true, 20],
])('%s creates few books, and deletes them', async (_run, isSmokeTest, most) => {
  const lines = vi.spyOn(console, 'log').mockImplementation(() => {});
  const books = await listBooks();
  const before = await createId();
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password, SECRET_TOKEN: secret } = testSettings;

  const exitCode = await runSuite({ baseUrl: local.baseUrl, username, password, secret, isSmokeTest });

  const usedIds = (await createId()) - before - 1;
  expect(lines.mock.calls.flat().join('\n')).toMatch(/^\d+ passed, 0 failed, 0 skipped$/m);
  expect(exitCode).toBe(0);
  expect(usedIds).toBeGreaterThan(0);
  expect(usedIds).toBeLessThanOrEqual(most);
  expect(await listBooks()).toEqual(books);
});

test('the books of a smoke test say that they are of a test', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const sent: string[] = [];
  const gateway = await startFaultyGateway(local.baseUrl, (name, _headers, body) => {
    if (/^(?:POST|PUT) \/book/.test(name)) sent.push(body.toString());
    return 'pass';
  });
  onTestFinished(() => gateway.stop());
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;

  await runSuite({ baseUrl: gateway.baseUrl, username, password, isSmokeTest: true });

  const texts = sent.filter((body) => body.includes('"title"'));
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.filter((body) => !/"author":"Smoke test [-\da-f]{36}"/.test(body))).toEqual([]);
});

/** Creates a book and deletes it. @returns its id */
async function createId(): Promise<number> {
  const { id } = (await local.send('POST', '/book', {})).envelope.data as { id: number };
  await local.send('DELETE', `/book/${id}`);
  return id;
}

const listBooks = async () => (await local.send('GET', '/books')).envelope.data;

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
