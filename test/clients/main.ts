/**
 * `npm run verify:clients`: generates clients for TypeScript, Go, Java and Python from openapi.yaml, compiles each with a
 * session, and runs that against a local service: a login, a create and its replay, a page, conditional updates, deletions.
 * Exit code 77 where Go, Java with Maven, or Python is missing.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { defaultCredentials, LocalService } from '../support/local-service.ts';
import { endForMissingTool } from '../support/missing-tool.ts';
import { preparePython } from '../support/python-environment.ts';

/** What the script `run` of each folder needs beside the packages of npm. */
const languages = { typescript: [], go: ['go'], java: ['java', 'mvn'], python: ['python3'] };

/** Git ignores it. */
const workFolder = resolve('.clients');

const missing = Object.values(languages).flat().filter(isMissing);
const service = await LocalService.start(defaultCredentials);
try {
  for (const [language, tools] of Object.entries(languages)) if (!tools.some(isMissing)) run(language);
} finally {
  await service.stop();
}
if (missing.length > 0) endForMissingTool(`Not tested, because it is missing: ${missing.join(', ')}`);

function isMissing(tool: string): boolean {
  return spawnSync(tool, ['--version']).error !== undefined;
}

/** Runs a session in a copy of its folder, with the commands that it needs on the PATH. */
function run(language: string): void {
  const sources = join(import.meta.dirname, language);
  const folder = join(workFolder, language);
  rmSync(folder, { recursive: true, force: true });
  cpSync(sources, folder, { recursive: true });
  cpSync('openapi.yaml', join(folder, 'openapi.yaml'));
  const path = [process.env.PATH, resolve('tools/node_modules/.bin')];
  if (language === 'python') {
    const command = preparePython('.venv-clients', join(sources, 'requirements.txt'));
    path.unshift(dirname(resolve(command('python'))));
  }
  const options = { cwd: folder, env: { ...process.env, PATH: path.join(delimiter) }, stdio: 'inherit' } as const;
  const { status, error } = spawnSync('bash', ['run', service.baseUrl], options);
  if (status !== 0) throw new Error(`the session in ${language} failed`, { cause: error });
}
