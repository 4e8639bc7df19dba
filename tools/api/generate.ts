/** `npm run api`. */

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseOptions } from '../parse-options.ts';
import { readDescription } from './description.ts';
import { makePostmanCollection } from './postman-collection.ts';

const usage = `Usage: npm run api [-- --check]

Writes the files that are generated from the sources of the service: a part of openapi.yaml, and from that the files in
tools/client/. With --check it writes nothing, lints openapi.yaml, fails when a file is not current, and sends the requests
of the Postman collection to a local service.`;

const { check: isCheck } = parseOptions(usage, { check: { type: 'boolean' } }).values;

const description = '../../openapi.yaml';

try {
  await generate();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function generate(): Promise<void> {
  if (isCheck) await runTool('redocly', 'lint', description, '--extends', 'recommended-strict');
  const { current } = await readDescription();
  await finish('openapi.yaml', current);
  // It loads openapi.yaml, and says so when a reference there leads nowhere.
  const { testPostmanCollection } = await import('./test-postman-collection.ts');
  // A default is what the service takes for a member that is left out, so that it may be left out.
  const options = ['--default-non-nullable', 'false', '--immutable'];
  await finish('tools/client/types.ts', await runTool('openapi-typescript', description, ...options));
  const collection = await makePostmanCollection(current);
  await finish('tools/client/book-catalog.postman_collection.json', collection);
  if (isCheck) await testPostmanCollection(collection);
}

/** Writes a file, or checks that it is current. */
async function finish(path: string, text: string): Promise<void> {
  const file = join(import.meta.dirname, '../..', path);
  if (!isCheck) return writeFile(file, text);
  const isCurrent = (await readFile(file, 'utf8')) === text;
  console.log(`${path} is ${isCurrent ? 'current' : 'NOT current: run `npm run api`'}`);
  if (!isCurrent) process.exitCode = 1;
}

/** Runs a command of a package in tools/package.json. @returns its standard output */
async function runTool(name: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const command = [join('../node_modules/.bin', name), ...args];
  try {
    return (await promisify(execFile)(process.execPath, command, { cwd: import.meta.dirname, env })).stdout;
  } catch (cause) {
    const { stdout, stderr } = cause as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${name} failed:\n${stdout}${stderr}`, { cause });
  }
}
