/**
 * `npm run verify:clients`: generates a client in TypeScript and one in Python from openapi.yaml, compiles each with a
 * session, and runs that against a local service: a login, a create and its replay, a 304, a 412, pages, deletions. A
 * gateway adds members to the responses, as a later version may. Exit code 77 without Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { defaultCredentials, LocalService } from '../support/local-service.ts';
import { preparePython } from '../support/python-environment.ts';

const python = preparePython('.venv-clients', join(import.meta.dirname, 'python/requirements.txt'));
const path = [dirname(resolve(python('python'))), process.env.PATH].join(delimiter);
const service = await LocalService.start(defaultCredentials);
const gateway = await startFaultyGateway(service.baseUrl, () => addMembers);
try {
  for (const language of ['typescript', 'python']) await runSession(language);
} finally {
  await gateway.stop();
  await service.stop();
}

/** Adds members to the envelope and to what it holds, unless it is compressed. */
function addMembers(body: string): string {
  if (!body.startsWith('{')) return body;
  const envelope = JSON.parse(body);
  const added = { addedLater: { deep: ['x', null] } };
  for (const each of [envelope.data].flat()) Object.assign(each ?? {}, added);
  return JSON.stringify({ ...envelope, ...added });
}

/** Runs the script `run` in a copy of a language's folder, which git ignores. */
async function runSession(language: string): Promise<void> {
  const folder = resolve('.clients', language);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(import.meta.dirname, language), folder, { recursive: true });
  cpSync('openapi.yaml', join(folder, 'openapi.yaml'));
  const options = { cwd: folder, env: { ...process.env, PATH: path }, stdio: 'inherit' } as const;
  // The gateway is in this process.
  const [code] = await once(spawn('bash', ['run', gateway.baseUrl], options), 'exit');
  if (code !== 0) throw new Error(`the session in ${language} failed`);
  console.log(`${language}: passed`);
}
