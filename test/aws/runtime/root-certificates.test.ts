import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { seedBooks } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { startForTest } from './start-function.ts';

const { open } = await useTables();

test.each([
  ['has other root certificates', join(inject('functionsFolder'), 'getBook/amazon-roots.pem')],
  ['is missing', '/nowhere/amazon-roots.pem'],
])("no instance uses a database whose certificate it cannot verify, because the package's file %s", async (_, file) => {
  const table = await open();
  await seedBooks(table, 1);
  const proxy = await startFaultyProxy(new URL(table.url).origin, { isTls: true });
  onTestFinished(() => proxy.stop());
  const url = `${proxy.endpoint}/${table.tableName}`;

  const instance = await startForTest('getBook', { DB_URL: url, SSL_CERT_FILE: file });

  await expect(instance.api.initialized).rejects.toThrow('DynamoDB failed: Error: self-signed certificate');
  await instance.waitForExit();
});
