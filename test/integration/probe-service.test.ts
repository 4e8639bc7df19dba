import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { captureLog } from '../support/captured-log.ts';
import { useTables } from '../support/fixtures.ts';
import { defaultCredentials } from '../support/local-service.ts';
import { close, listen } from '../support/loopback-server.ts';
import { serveFunctions } from '../support/serve-functions.ts';

const { open } = await useTables();
const { baseUrl } = await serveFunctions((await open()).url);

/** Loads the function like a new instance, and invokes it. */
async function probe(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  captureLog();
  const variables = { ...defaultCredentials, BASE_URL: baseUrl, ...environment };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.resetModules();
  const { handler } = await import('../../handlers/probe-service.ts');
  await handler();
}

test('the probe succeeds on a service that works, and ends before its function does', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  const { functions } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent' });

  await expect(probe()).resolves.toBeUndefined();

  const limits = timeout.mock.calls.map(([milliseconds]) => milliseconds);
  expect(limits).toHaveLength(2);
  expect(limits.reduce((sum, limit) => sum + limit)).toBeLessThan(functions.probeService.timeout * 1000);
});

test.each([
  ['refuses its password', { AUTH_PASSWORD: 'wrong' }, '/token responds with 401'],
  ['cannot be reached', { BASE_URL: 'http://127.0.0.1:1' }, 'fetch failed'],
])('the probe fails on a service that %s', async (_, environment, message) => {
  await expect(probe(environment)).rejects.toThrow(message);
});

test('the probe fails on a service whose list fails, or is not a list', async () => {
  let status = 503;
  const server = createServer(({ url }, response) => {
    response.statusCode = url === '/token' ? 200 : status;
    response.end(JSON.stringify({ data: { token: 'x' } }));
  });
  const port = await listen(server);
  onTestFinished(() => close(server));
  const environment = { BASE_URL: `http://127.0.0.1:${port}` };

  await expect(probe(environment)).rejects.toThrow('/books?limit=1 responds with 503');
  status = 200;
  await expect(probe(environment)).rejects.toThrow('/books responds without books');
});
