/**
 * `npm run verify:clients`: generates clients for TypeScript, Go, Java and Python from openapi.yaml, compiles each with a
 * session, and runs that against a local service: a login, a create and its replay, pages, conditional updates, deletions.
 * Exit code 77 where Go, Java with Maven, or Python is missing.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { defaultCredentials, LocalService } from '../../tools/local/local-service.ts';
import { endForMissingTool } from '../../tools/toolchains/missing-tool.ts';
import { preparePython } from '../../tools/toolchains/python-environment.ts';

const oapiCodegen = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

/** Git ignores it. */
const workFolder = resolve('.clients');

const description = resolve('openapi.yaml');

const tests = [
  { test: testTypeScript, commands: [] },
  { test: testGo, commands: ['go'] },
  { test: testJava, commands: ['java', 'mvn'] },
  { test: testPython, commands: ['python3'] },
];
const missing = tests.flatMap(({ commands }) => commands.filter(isMissing));
const service = await LocalService.start(defaultCredentials);
try {
  for (const { test, commands } of tests) if (!commands.some(isMissing)) test();
} finally {
  await service.stop();
}
if (missing.length > 0) endForMissingTool(`Not tested, because it is missing: ${missing.join(', ')}`);

function testTypeScript(): void {
  const folder = prepareFolder('typescript', 'session.ts');
  run(folder, resolve('tools/node_modules/.bin/openapi-ts'), '-i', description, '-o', 'catalog', '--silent');
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', '--types', 'node'];
  const modules = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler'];
  run(folder, 'tsc', '--ignoreConfig', '--noEmit', ...strict, ...modules, 'session.ts');
  run(
    folder,
    'esbuild',
    'session.ts',
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--outfile=session.mjs',
  );
  run(folder, 'node', 'session.mjs', service.baseUrl);
}

function testGo(): void {
  const folder = prepareFolder('go', 'go.mod', 'go.sum', 'session.go');
  mkdirSync(join(folder, 'catalog'));
  const options = ['-generate', 'types,client', '-package', 'catalog', '-o', 'catalog/catalog.go'];
  run(folder, 'go', 'run', oapiCodegen, ...options, description);
  run(folder, 'go', 'vet', './...');
  run(folder, 'go', 'run', '.', service.baseUrl);
}

function testJava(): void {
  const folder = prepareFolder('java', 'pom.xml', 'Session.java');
  cpSync(description, join(folder, 'openapi.yaml'));
  run(folder, 'mvn', '-q', '-B', 'compile', 'dependency:copy-dependencies');
  run(
    folder,
    'java',
    '-cp',
    ['target/classes', 'target/dependency/*'].join(delimiter),
    'Session',
    service.baseUrl,
  );
}

function testPython(): void {
  const command = preparePython('.venv-clients', 'test/clients/requirements.txt');
  const folder = prepareFolder('python', 'session.py');
  const output = ['--path', description, '--output-path', 'client', '--fail-on-warning'];
  // The generator calls its formatter by name.
  process.env.PATH = [dirname(resolve(command('python'))), process.env.PATH].join(delimiter);
  process.env.PYTHONPATH = join(folder, 'client');
  run(folder, 'openapi-python-client', 'generate', ...output);
  run(folder, 'mypy', '--strict', 'session.py');
  run(folder, 'python', 'session.py', service.baseUrl);
}

/** Makes an empty folder with some files of this one. */
function prepareFolder(language: string, ...files: readonly string[]): string {
  const folder = join(workFolder, language);
  rmSync(folder, { recursive: true, force: true });
  for (const file of files) cpSync(join(import.meta.dirname, file), join(folder, file));
  return folder;
}

function isMissing(command: string): boolean {
  return spawnSync(command, ['--version']).error !== undefined;
}

function run(cwd: string, command: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`, { cause: error });
}
