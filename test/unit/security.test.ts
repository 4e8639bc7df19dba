import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { auditLockFile, exitCodeOf, type Findings } from '../../.ci/security/audit.ts';
import { findForeignLicences, type LockFile } from '../../.ci/security/licences.ts';
import { close, listen } from '../../tools/runtime/loopback-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const project = JSON.parse(readFileSync('package.json', 'utf8'));

const writeJson = (file: string, value: object) => writeFile(file, JSON.stringify(value));

const advisory = { url: 'x', title: 'It falls over', vulnerable_versions: '<2', cwe: [], cvss: {} };
const vulnerable = (severity: string) => [`package-lock.json: vulnerable: left (${severity})`];
const notAllowed = [expect.stringContaining('known vulnerabilities (405 Method Not Allowed')];

test.each<[string, object | undefined, Findings]>([
  ['no advisory', {}, { found: [], notChecked: [] }],
  [
    'a low one',
    { left: [{ ...advisory, id: 2, severity: 'low' }] },
    { found: vulnerable('low'), notChecked: [] },
  ],
  [
    'a high one',
    { left: [{ ...advisory, id: 1, severity: 'high' }] },
    { found: vulnerable('high'), notChecked: [] },
  ],
  ['no audit endpoint', undefined, { found: [], notChecked: notAllowed }],
])('a lock file is checked against the advisories of a registry: %s', async (_, advisories, expected) => {
  const left = { name: 'left', versions: { '1.0.0': { name: 'left', version: '1.0.0' } } };
  const registry = createServer((request, response) => {
    if (advisories === undefined) return response.writeHead(405).end();
    const isAudit = request.url?.startsWith('/-/npm/v1/security/advisories/bulk');
    const body = isAudit ? advisories : { ...left, 'dist-tags': { latest: '1.0.0' } };
    return response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  });
  const url = `http://127.0.0.1:${await listen(registry)}`;
  onTestFinished(() => close(registry));
  const folder = await makeTemporaryFolder();
  const victim = { name: 'victim', version: '1.0.0', dependencies: { left: '1.0.0' } };
  const packages = { '': victim, 'node_modules/left': { version: '1.0.0' } };
  await writeJson(join(folder, 'package.json'), victim);
  await writeJson(join(folder, 'package-lock.json'), { ...victim, lockfileVersion: 3, packages });

  expect(await auditLockFile(folder, 'package-lock.json', '--registry', url)).toEqual(expected);
});

test.each([
  [[], [], 0],
  [[], ['a'], 77],
  [['b'], ['a'], 1],
])('the exit code with %j found and %j not checked is %i', (found, notChecked, exitCode) => {
  expect(exitCodeOf({ found, notChecked })).toBe(exitCode);
});

const permitted = ['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-or-later)', '(MIT AND Zlib)', 'MIT OR Apache-2.0'];
const foreign = [
  'GPL-3.0-only',
  'MIT AND GPL-3.0-only',
  '(GPL-2.0 OR AGPL-3.0)',
  'MPL-2.0',
  'UNLICENSED',
  '',
  null,
];

test.each<[LockFile['packages'][string], findings: string[], deployed?: boolean]>([
  ...permitted.map((license): [object, string[]] => [{ license }, []]),
  ...foreign.map((license): [object, string[]] => [{ license }, [`${JSON.stringify(license)}, deployed`]]),
  [{}, ['null, deployed']],
  [{ license: 'MPL-2.0' }, [], false],
  [{ license: 'MPL-2.0', dev: true }, []],
  [{ license: 'MPL-2.0', devOptional: true }, []],
  [{ license: 'AGPL-3.0', dev: true }, ['"AGPL-3.0"']],
  [{ license: 'AGPL-3.0', devOptional: true }, ['"AGPL-3.0"']],
])('a package with %o has the foreign licences %j', (entry, licences, deployed = true) => {
  const packages = { '': {}, 'node_modules/@a/b': entry };
  expect(findForeignLicences({ packages }, deployed)).toEqual(licences.map((licence) => `@a/b: ${licence}`));
});

test('npm ci runs no install script of a package that package.json names or not', async () => {
  const folder = await makeTemporaryFolder();
  const npm = (cwd: string, ...args: string[]) => promisify(execFile)('npm', args, { cwd });
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
