import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fieldSchemas } from '../../conformance/a-book.ts';
import { runSuite } from '../../conformance/run-suite.ts';
import { groupNames } from '../../conformance/suite.ts';
import { type Fate, respond, startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { startCommand, testSettings } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService();
const { AUTH_USERNAME: username, AUTH_PASSWORD: password, SECRET_TOKEN: secret } = testSettings;

const allBut = (...groups: readonly string[]) => groupNames.filter((name) => !groups.includes(name));

/** Starts a run of one group of the suite. */
function startGroup(group: string, baseUrl: string, ownPassword: string = password) {
  const without = allBut(group).flatMap((name) => ['--without', name]);
  const access = ['--base-url', baseUrl, '--username', username, '--password', ownPassword];
  return startCommand(['conformance/main.ts', ...access, ...without], process.env);
}

/** Runs one group of the suite. */
const runGroup = (...run: Parameters<typeof startGroup>) => startGroup(...run).ended;

/** Starts a gateway with faults before the service, for the current test. */
async function openGateway(decide: Parameters<typeof startFaultyGateway>[1]) {
  const gateway = await startFaultyGateway(local.baseUrl, decide);
  onTestFinished(() => gateway.stop());
  return gateway;
}

// Each create uses up an id, and leaves an item that the table keeps for days. Each field has values of its own.
test.each([
  ['the whole suite', false, 470 + 10 * fieldSchemas.length],
  ['a smoke test', true, 20],
])('%s creates few books, and deletes them', async (_run, isSmokeTest, maxIds) => {
  const lines = vi.spyOn(console, 'log').mockImplementation(() => {});
  const books = await listBooks();
  const before = await createId();

  const exitCode = await runSuite({ baseUrl: local.baseUrl, username, password, secret, isSmokeTest });

  const usedIds = (await createId()) - before - 1;
  expect(lines.mock.calls.flat().join('\n')).toMatch(/^\d+ passed, 0 failed, 0 skipped$/m);
  expect(exitCode).toBe(0);
  expect(usedIds).toBeGreaterThan(0);
  expect(usedIds).toBeLessThanOrEqual(maxIds);
  expect(await listBooks()).toEqual(books);
});

test('the books of a smoke test say that they are of a test', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const sent: string[] = [];
  const gateway = await openGateway((name, _headers, body) => {
    if (/^(?:POST|PUT) \/book/.test(name)) sent.push(body.toString());
    return 'pass';
  });

  await runSuite({ baseUrl: gateway.baseUrl, username, password, isSmokeTest: true });

  const texts = sent.filter((body) => body.includes('"title"'));
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.filter((body) => !/"author":"Smoke test [-\da-f]{36}"/.test(body))).toEqual([]);
});

/** API Gateway's own responses, as they were seen. */
function respondLikeApiGateway(name: string, headers: IncomingHttpHeaders): Fate {
  const bodyBytes = Number(headers['content-length'] ?? 0);
  if (bodyBytes > 10 * 1024 * 1024) {
    const body = 'HTTP content length exceeded 10485760 bytes.';
    return { status: 413, headers: { 'Content-Type': 'text/plain' }, body };
  }
  const isUnknown = !/^\w+ \/(?:token|books?|book\/[^/]+)(?:\?|$)/.test(name);
  const isRefused = bodyBytes > 4.4 * 1024 * 1024 || (isUnknown && headers.authorization !== undefined);
  return isRefused ? respond(400, 'Bad request') : 'pass';
}

test('a stage with books of others behind API Gateway passes, a few requests at a time, and keeps its books', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  await local.send('POST', '/book', { title: 'A book of others' });
  const before = await listBooks();
  let [inFlight, mostInFlight] = [0, 0];
  const gateway = await openGateway((name, headers) => {
    const fate = respondLikeApiGateway(name, headers);
    // The suite disconnects after the beginning of a whole list, and sends the next request before the gateway notices.
    if (fate !== 'pass' || /^GET \/books(?!.*limit=)/.test(name)) return fate;
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    return (body) => {
      inFlight -= 1;
      return body;
    };
  });
  const options = { requestsAtOnce: 4, toleratesGateway: true, without: allBut('bodies', 'lists', 'unknown-paths') };

  const exitCode = await runSuite({ baseUrl: gateway.baseUrl, username, password, ...options });

  const lines = printed.mock.calls.flatMap(([line]) => String(line).split('\n')).map((line) => line.trim());
  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(exitCode).toBe(0);
  expect(mostInFlight).toBeGreaterThan(1);
  expect(mostInFlight).toBeLessThanOrEqual(4);
  expect(await listBooks()).toEqual(before);
  expect(lines).toContain('differs from the local service: A body of more than 10 MB is too large');
  expect(lines).toContain('differs from the local service: GET /nowhere is not found with a token, valid or not');
  expect(lines).not.toContain('differs from the local service: GET /nowhere is not found');
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('after %s, the run sends no more cases, and deletes its books', async (signal, status) => {
  const before = await listBooks();
  let creates = 0;
  const gateway = await openGateway(async (name): Promise<Fate> => {
    if (name !== 'POST /book') return 'pass';
    creates += 1;
    if (creates === 10) run.child.kill(signal);
    if (creates >= 10) await interrupted;
    return 'pass';
  });
  const run = startGroup('books', gateway.baseUrl);
  const interrupted = once(run.child.stderr, 'data');

  expect((await run.ended).exitCode).toBe(status);
  // Some were on their way. Without the stop there would be forty.
  expect(creates).toBeLessThan(25);
  expect(await listBooks()).toEqual(before);
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

  const problem = `it does not accept the username ${username} with this password`;
  expect(output).toBe(`The service at ${local.baseUrl} cannot be tested: ${problem}\n`);
  expect(exitCode).toBe(1);
});

const tooMany = (seconds: number) =>
  respond(429, 'Too many requests', { 'Retry-After': `${seconds}`, 'x-amzn-RequestId': crypto.randomUUID() });

test('a run sends a request again when the stage throttles it', async () => {
  let requests = 0;
  const throttle = () => {
    requests += 1;
    return requests <= 2 ? tooMany(1) : 'pass';
  };
  const gateway = await openGateway(throttle);

  const { exitCode, output } = await runGroup('cross-origin', gateway.baseUrl);

  expect(output).toMatch(/^[1-9]\d* passed, 0 failed, /m);
  expect(exitCode).toBe(0);
});

test('a stop signal ends the wait of a throttled run', async () => {
  const { promise: throttled, resolve } = Promise.withResolvers<void>();
  const gateway = await openGateway((name) => {
    if (name !== 'POST /book') return 'pass';
    resolve();
    return tooMany(60);
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
