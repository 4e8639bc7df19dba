import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { startEngine } from '../simulators/engine.ts';
import { LocalService } from './local-service.ts';
import { useLocalService } from './use-local-service.ts';

/** A stop takes at most this long, even with connections open. */
const stopLimitMs = 2_000;

const local = useLocalService();

test('the two printed command lines log in and list the books', async () => {
  const { output } = local.service;
  const lines = output.split('\n').filter((line) => /^ {2}(TOKEN|curl)/.test(line));

  const { stdout } = await promisify(execFile)('sh', ['-c', lines.join('\n')]);

  expect(lines).toHaveLength(2);
  expect(stdout).toBe(JSON.stringify({ status: 200, message: 'Books retrieved successfully', data: [] }));
  expect(output.trimStart()).toMatch(/^Book Catalog is ready at /);
  expect(output).toContain(local.baseUrl);
  expect(output).toContain(local.dataFolder);
});

test.each<[string, () => Promise<NodeJS.ProcessEnv>, readonly string[]]>([
  [
    'settings that are empty or malformed, each of them',
    async () => ({ SECRET_TOKEN: '', AUTH_PASSWORD: '', DB_URL: 'localhost/books' }),
    ['SECRET_TOKEN is empty', 'AUTH_PASSWORD is empty', 'DB_URL is not the URL of a DynamoDB endpoint'],
  ],
  [
    'an engine that does not respond',
    async () => ({ DB_URL: 'http://127.0.0.1:9/books' }),
    ['ECONNREFUSED', 'Make sure that a DynamoDB engine responds at http://127.0.0.1:9'],
  ],
  [
    'a data folder that another service has open',
    async () => ({ DB_PATH: local.dataFolder }),
    ['cannot be used: another process has it open'],
  ],
])('a start ends with one paragraph that names %s', async (_what, environment, texts) => {
  expectParagraph(await LocalService.fail(await environment()), texts);
});

test('a start ends with one paragraph that names a table with another key schema', async () => {
  const engine = await startEngine();
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'us-east-1' });
  await client.send(
    new CreateTableCommand({
      TableName: 'other',
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );

  const ended = await LocalService.fail({ DB_URL: `${engine.endpoint}/other` });

  client.destroy();
  await engine.stop();
  expectParagraph(ended, ['"other" is not a book table']);
});

test('a start ends with one paragraph that names a port in use, before the data folder', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;

  const ended = await LocalService.fail({ DB_PATH: local.dataFolder }, port);

  other.close();
  expectParagraph(ended, [`Port ${port} on 127.0.0.1 cannot be used: another process is listening there`]);
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends a service with exit code 0 within two seconds, with a connection open',
  async (signal) => {
    const service = await LocalService.start({ DB_PATH: join(local.dataFolder, signal) });
    await fetch(`${service.baseUrl}/books`, { keepalive: true });

    const startedAt = performance.now();
    const { exitCode } = await service.stop(signal);

    expect(exitCode).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(stopLimitMs);
  },
);

/** The framework prints a foreseen error as "Error:" and its message, an unforeseen one with its stack. */
function expectParagraph(
  { exitCode, output }: Awaited<ReturnType<typeof LocalService.fail>>,
  texts: readonly string[],
): void {
  const [, paragraph = ''] = output.split('Error:\n');
  expect(exitCode).toBe(1);
  for (const text of texts) expect(paragraph).toContain(text);
  expect(paragraph.trim()).not.toContain('\n');
}
