import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDataFolder, LocalService } from './local-service.ts';

const run = promisify(execFile);

/** A stop takes at most this long, even with connections open. */
const stopLimitMs = 2_000;

let dataFolder: string;

beforeAll(async () => {
  dataFolder = await createDataFolder();
});

afterAll(async () => {
  await rm(dataFolder, { recursive: true, force: true });
});

test('the two lines that are printed at the start log in and list the books when they are pasted', async () => {
  const folder = await createDataFolder();
  const service = await LocalService.start({ DB_PATH: folder });
  try {
    const lines = service.output.split('\n').filter((line) => /^ {2}(TOKEN|curl)/.test(line));
    expect(lines).toHaveLength(2);

    const { stdout } = await run('sh', ['-c', lines.join('\n')]);

    expect(stdout).toBe(JSON.stringify({ status: 200, message: 'Books retrieved successfully', data: [] }));
    expect(service.output.trimStart()).toMatch(/^Book Catalog is ready at /);
    expect(service.output).toContain(`http://127.0.0.1:${service.port}`);
    expect(service.output).toContain(folder);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a running service ends with exit code 0 within two seconds of %s, with a connection open',
  async (signal) => {
    const folder = await createDataFolder();
    const service = await LocalService.start({ DB_PATH: folder });
    await fetch(`${service.baseUrl}/books`, { keepalive: true });

    const startedAt = performance.now();
    const { exitCode } = await service.stop(signal);

    expect(exitCode).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(stopLimitMs);
    await rm(folder, { recursive: true, force: true });
  },
);

test('every setting that is empty or malformed is named, and nothing listens', async () => {
  const { exitCode, output } = await LocalService.fail({
    SECRET_TOKEN: '',
    AUTH_PASSWORD: '',
    DB_URL: 'localhost/books',
  });

  expect(exitCode).toBe(1);
  expect(output).toContain('SECRET_TOKEN is empty');
  expect(output).toContain('AUTH_PASSWORD is empty');
  expect(output).toContain('DB_URL is not the URL of a DynamoDB endpoint');
  expectOneParagraph(output);
});

test('an engine that does not answer is named, and nothing listens', async () => {
  const { exitCode, output } = await LocalService.fail({ DB_URL: 'http://127.0.0.1:9/books' });

  expect(exitCode).toBe(1);
  expect(output).toContain('ECONNREFUSED 127.0.0.1:9');
  expectOneParagraph(output);
});

test('a table with another key schema is refused', async () => {
  const engine = dynalite({ createTableMs: 0 }).listen(0, '127.0.0.1');
  await once(engine, 'listening');
  const endpoint = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1' });
  await client.send(
    new CreateTableCommand({
      TableName: 'other',
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );

  const { exitCode, output } = await LocalService.fail({ DB_URL: `${endpoint}/other` });

  client.destroy();
  engine.close();
  expect(exitCode).toBe(1);
  expect(output).toContain('"other" is not a book table');
  expectOneParagraph(output);
});

test('a port that is in use is named', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;

  const { exitCode, output } = await LocalService.fail({ DB_PATH: dataFolder }, port);

  other.close();
  expect(exitCode).toBe(1);
  expect(output).toContain(`Port ${port} on 127.0.0.1 cannot be used: another process is listening there`);
  expectOneParagraph(output);
});

test('a data folder that another service has open is named', async () => {
  const folder = await createDataFolder();
  const service = await LocalService.start({ DB_PATH: folder });

  const { exitCode, output } = await LocalService.fail({ DB_PATH: folder });

  await service.stop();
  await rm(folder, { recursive: true, force: true });
  expect(exitCode).toBe(1);
  expect(output).toContain(`The data folder ${folder} cannot be used: another process has it open`);
  expectOneParagraph(output);
});

/** The framework prints a foreseen error as "Error:" and the text, an unforeseen one with its stack. */
function expectOneParagraph(output: string): void {
  const [, paragraph = ''] = output.split('Error:\n');
  expect(paragraph.trim()).not.toBe('');
  expect(paragraph.trim()).not.toContain('\n');
}
