import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes a folder that is removed after the current test. Concurrent tests give the hook of their own context. */
export async function makeTemporaryFolder(onFinished: typeof onTestFinished = onTestFinished) {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-'));
  onFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
