/**
 * `npm run verify:clients [-- FOLDER...]`: generates clients from openapi.yaml, compiles each with a session, and runs that
 * against a local service: a login, a create and its replay, a 304, a 412, pages, deletions. Of the two clients for Go, one
 * is only compiled. A gateway adds members to the responses, as a later version may. Exit code 77 where Go, Java with
 * Maven, or Python is missing.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { startFaultyGateway } from '../simulators/faulty-gateway.ts';
import { defaultCredentials, LocalService } from '../support/local-service.ts';
import { endForMissingTool } from '../support/missing-tool.ts';
import { preparePython } from '../support/python-environment.ts';

/** What the script `run` of each folder needs beside npm. */
const tools: Readonly<Record<string, readonly string[]>> = {
  typescript: [],
  go: ['go'],
  java: ['java', 'mvn'],
  python: ['python3'],
};
const folders = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(tools);

/** Git ignores it. */
const workFolder = resolve('.clients');

const missing = new Set(folders.flatMap((folder) => tools[folder] ?? []).filter(isMissing));
const service = await LocalService.start(defaultCredentials);
const gateway = await startFaultyGateway(service.baseUrl, () => addMembers);
try {
  for (const folder of folders) if (!tools[folder]?.some((tool) => missing.has(tool))) await run(folder);
} finally {
  await gateway.stop();
  await service.stop();
}
if (missing.size > 0) endForMissingTool(`Not tested, because it is missing: ${[...missing].join(', ')}`);

function isMissing(tool: string): boolean {
  return spawnSync(tool, ['--version']).error !== undefined;
}

/** Adds members to the envelope and to what it holds, unless it is compressed. */
function addMembers(body: string): string {
  if (!body.startsWith('{')) return body;
  const envelope = JSON.parse(body);
  const added = { addedLater: { deep: ['x', null] } };
  for (const each of [envelope.data].flat()) Object.assign(each ?? {}, added);
  return JSON.stringify({ ...envelope, ...added });
}

/** Runs a session in a copy of its folder, with the commands that it needs on the PATH. */
async function run(name: string): Promise<void> {
  const sources = join(import.meta.dirname, name);
  const folder = join(workFolder, name);
  rmSync(folder, { recursive: true, force: true });
  cpSync(sources, folder, { recursive: true });
  cpSync('openapi.yaml', join(folder, 'openapi.yaml'));
  const path = [process.env.PATH];
  if (name === 'python') {
    const command = preparePython('.venv-clients', join(sources, 'requirements.txt'));
    path.unshift(dirname(resolve(command('python'))));
  }
  const options = { cwd: folder, env: { ...process.env, PATH: path.join(delimiter) }, stdio: 'inherit' } as const;
  const startedAt = performance.now();
  // The gateway is in this process.
  const [code] = await once(spawn('bash', ['run', gateway.baseUrl], options), 'exit');
  if (code !== 0) throw new Error(`the session in ${name} failed`);
  console.log(`${name}: passed after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
}
