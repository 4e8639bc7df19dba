import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { close, listen } from '../../tools/runtime/loopback-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const project = JSON.parse(readFileSync('package.json', 'utf8'));

const writeJson = (file: string, value: object) => writeFile(file, JSON.stringify(value));

const run = promisify(execFile);

/** Runs a command. @returns its exit code and what it prints */
const runToEnd = (command: string, args: readonly string[], cwd?: string) =>
  run(command, args, { cwd }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }) => ({ code, stdout }),
  );

const advisory = { url: 'x', title: 'It falls over', vulnerable_versions: '<2', cwe: [], cvss: {} };

test.each<[number, string, advisories: readonly object[] | undefined, printed: string]>([
  [0, 'without an advisory', [], 'found 0 vulnerabilities'],
  [0, 'with an advisory below the level', [{ id: 3, severity: 'moderate' }], 'It falls over'],
  [1, 'with an advisory of the level', [{ id: 1, severity: 'high' }], 'It falls over'],
  [77, 'without an audit endpoint', undefined, 'audit endpoint returned an error'],
])('the exit code of an audit is %i by a registry %s', async (expected, _registry, advisories, printed) => {
  const left = { name: 'left', versions: { '1.0.0': { name: 'left', version: '1.0.0' } } };
  const registry = createServer((request, response) => {
    if (advisories === undefined) return response.writeHead(405).end();
    const isAudit = request.url?.startsWith('/-/npm/v1/security/advisories/bulk');
    const found = advisories.map((one) => ({ ...advisory, ...one }));
    const body = isAudit ? { left: found } : { ...left, 'dist-tags': { latest: '1.0.0' } };
    return response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  });
  const url = `http://127.0.0.1:${await listen(registry)}`;
  onTestFinished(() => close(registry));
  const folder = await makeTemporaryFolder();
  const victim = { name: 'victim', version: '1.0.0', dependencies: { left: '1.0.0' } };
  const packages = { '': victim, 'node_modules/left': { version: '1.0.0' } };
  await writeJson(join(folder, 'package.json'), victim);
  await writeJson(join(folder, 'package-lock.json'), { ...victim, lockfileVersion: 3, packages });

  const options = ['--audit-level=high', '--registry', url];
  const { code, stdout } = await runToEnd('.ci/security/audit', [folder, ...options]);

  expect([code, stdout]).toEqual([expected, expect.stringContaining(printed)]);
});

test('packages under foreign licences are named, of which tools may have more than what is deployed', async () => {
  const folder = await makeTemporaryFolder();
  const foreign = ['GPL-3.0-only', 'MIT AND GPL-3.0-only', '(GPL-2.0 OR AGPL-3.0)', 'MPL-2.0', '', null];
  const entries = [
    ...['MIT', 'MIT OR GPL-3.0', '(MIT OR GPL-3.0)', ...foreign].map((license) => ({ license })),
    ...['MPL-2.0', 'AGPL-3.0'].map((license) => ({ license, dev: true })),
    ...['MPL-2.0', 'AGPL-3.0'].map((license) => ({ license, devOptional: true })),
  ];
  const named = entries.map((entry) => [`node_modules/@a/${JSON.stringify(entry)}`, entry]);
  const packages = Object.fromEntries([['', {}], ['node_modules/a/node_modules/none', {}], ...named]);
  await writeJson(join(folder, 'package-lock.json'), { packages });
  await writeJson(join(folder, 'tools.json'), { packages: { 'node_modules/c': { license: 'MPL-2.0' } } });

  const script = resolve('.ci/security/licences.ts');
  const args = [script, 'tools.json', 'package-lock.json'];
  const { code, stdout } = await runToEnd(process.execPath, args, folder);

  expect(code).toBe(1);
  expect(stdout.trim().split('\n')).toEqual([
    'package-lock.json: none: null, deployed',
    ...foreign
      .map((license) => JSON.stringify(license))
      .map((text) => `package-lock.json: @a/{"license":${text}}: ${text}, deployed`),
    'package-lock.json: @a/{"license":"AGPL-3.0","dev":true}: "AGPL-3.0"',
    'package-lock.json: @a/{"license":"AGPL-3.0","devOptional":true}: "AGPL-3.0"',
  ]);
});

test('npm ci runs no install script of a package that package.json names or not', async () => {
  const folder = await makeTemporaryFolder();
  const npm = (cwd: string, ...args: string[]) => run('npm', args, { cwd });
  const marker = join(folder, 'it-ran');
  const scripts = { install: `node -e "fs.writeFileSync('${marker}', '')"` };
  await mkdir(join(folder, 'package'));
  await writeJson(join(folder, 'package/package.json'), { name: 'intruder', version: '1.0.0', scripts });
  await npm(join(folder, 'package'), 'pack', '--pack-destination', folder);
  const dependencies = { intruder: 'file:intruder-1.0.0.tgz' };
  const { allowScripts } = project;
  await writeJson(join(folder, 'package.json'), { name: 'victim', dependencies, allowScripts });
  await npm(folder, 'install', '--package-lock-only', '--ignore-scripts', '--offline');

  cpSync('.npmrc', join(folder, '.npmrc'));
  await npm(folder, 'ci', '--offline');

  expect(existsSync(join(folder, 'node_modules/intruder/package.json'))).toBe(true);
  expect(existsSync(marker)).toBe(false);
});

// .npmrc applies to the folder that it is in and to no other.
test('every install in another folder leaves install scripts out', () => {
  const shell = globSync('tools/{,*/}{install,run}').map((name) => readFileSync(name, 'utf8'));
  const commands = [...Object.values<string>(project.scripts), ...shell]
    .flatMap((text) => text.split(/&&|\|\||\n/))
    .filter((command) => /\bnpm (ci|i|install)\b/.test(command));

  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(command).toContain('--ignore-scripts');
});
