/**
 * `npm run verify:clients`: generates a client in Python from openapi.yaml, checks its types with a session, and runs that
 * against a local service: a login, a create and its replay, a 304, a 412, pages, deletions. A gateway adds members to the
 * responses, as a later version may. Exit code 77 without Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { defaultCredentials, LocalService } from '../support/local-service.ts';
import { preparePython } from '../support/python-environment.ts';

const source = join(import.meta.dirname, 'python');
const python = preparePython('.venv-clients', join(source, 'requirements.txt'));
const PATH = [dirname(resolve(python('python'))), process.env.PATH].join(delimiter);
// Git ignores it.
const folder = resolve('.clients');
rmSync(folder, { recursive: true, force: true });
cpSync(source, folder, { recursive: true });
cpSync('openapi.yaml', join(folder, 'openapi.yaml'));
const service = await LocalService.start(defaultCredentials);
const gateway = await startFaultyGateway(service.baseUrl, () => addMembers);
try {
  // The gateway is in this process.
  const session = spawn('bash', ['run', gateway.baseUrl], {
    cwd: folder,
    env: { ...process.env, PATH },
    stdio: 'inherit',
  });
  const [code] = await once(session, 'exit');
  process.exitCode = code ?? 1;
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
