import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { testSettings } from '../support/local-service.ts';
import { useLocalService } from './use-local-service.ts';

const local = await useLocalService();

test('the probe succeeds on a service that works', async () => {
  await expect(probe()).resolves.toBeUndefined();
});

test.each([
  ['refuses its password', { AUTH_PASSWORD: 'wrong' }, '/token responds with 401'],
  ['cannot be reached', { BASE_URL: 'http://127.0.0.1:1' }, 'fetch failed'],
])('the probe fails on a service that %s', async (_, environment, message) => {
  await expect(probe(environment)).rejects.toThrow(message);
});

/** Loads the code in serverless/resources/probe.yml as Lambda does, and invokes it. */
async function probe(environment: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const text = await readFile('serverless/resources/probe.yml', 'utf8');
  const { Code } = parse(text, { logLevel: 'silent' }).Resources.ProbeFunction.Properties;
  const variables = { ...testSettings, BASE_URL: local.baseUrl, ...environment };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const module: { handler?: () => Promise<unknown> } = {};
  new Function('exports', Code.ZipFile)(module);
  return module.handler?.();
}
