import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditLockFile, exitCodeOf, type Findings } from '../../.ci/security/audit.ts';
import { findForeignLicences, type LockFile } from '../../.ci/security/licences.ts';
import { close, listen } from '../../tools/runtime/loopback-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const project = JSON.parse(readFileSync('package.json', 'utf8'));

const writeJson = (file: string, value: object) => writeFile(file, JSON.stringify(value));

describe('known vulnerabilities', () => {
  const left = { name: 'left', versions: { '1.0.0': { name: 'left', version: '1.0.0' } } };
  const advisory = { id: 1, url: 'x', title: 'It falls over', vulnerable_versions: '<2', cwe: [], cvss: {} };
  const vulnerable = (severity: string): Findings => ({
    found: [`package-lock.json: vulnerable: left (${severity})`],
    notChecked: [],
  });
  const notChecked = [expect.stringContaining('known vulnerabilities (405 Method Not Allowed')];

  test.each<[string, object | undefined, Findings]>([
    ['without an advisory', {}, { found: [], notChecked: [] }],
    ['with a low one', { left: [{ ...advisory, id: 2, severity: 'low' }] }, vulnerable('low')],
    ['with a high one', { left: [{ ...advisory, severity: 'high' }] }, vulnerable('high')],
    ['without an audit endpoint', undefined, { found: [], notChecked }],
  ])('a lock file is checked against a registry %s', async (_, advisories, expected) => {
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
  ])('%j found and %j not checked: exit code %i', (found, notChecked, exitCode) => {
    expect(exitCodeOf({ found, notChecked })).toBe(exitCode);
  });
});

describe('licences', () => {
  type Entry = LockFile['packages'][string];
  const tool = { dev: true };
  const optionalTool = { devOptional: true };

  test.each<Entry & { readonly deployed?: boolean }>([
    ...['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-or-later)', '(MIT AND Zlib)', 'MIT OR Apache-2.0'].map(
      (license) => ({ license }),
    ),
    { license: 'MPL-2.0', ...tool },
    { license: 'MPL-2.0', ...optionalTool },
    { license: 'MPL-2.0', deployed: false },
  ])('%o may be used', ({ deployed = true, ...entry }) => {
    expect(findForeignLicences({ packages: { '': {}, 'node_modules/@a/b': entry } }, deployed)).toEqual([]);
  });

  const gpl = ['GPL-3.0-only', 'MIT AND GPL-3.0-only', '(GPL-2.0 OR AGPL-3.0)'];
  const foreign = [...gpl, 'MPL-2.0', 'UNLICENSED', '', null];

  test.each<[Entry, string]>([
    ...foreign.map((license): [Entry, string] => [{ license }, `@a/b: ${JSON.stringify(license)}, deployed`]),
    [{}, '@a/b: null, deployed'],
    [{ license: 'AGPL-3.0', ...tool }, '@a/b: "AGPL-3.0"'],
    [{ license: 'AGPL-3.0', ...optionalTool }, '@a/b: "AGPL-3.0"'],
  ])('%o may not be used', (entry, line) => {
    expect(findForeignLicences({ packages: { '': {}, 'node_modules/@a/b': entry } }, true)).toEqual([line]);
  });
});

describe('install scripts of packages', () => {
  test('npm ci runs none, of a package that package.json names or not', async () => {
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
  test('every install in another folder leaves them out', () => {
    const shell = globSync('tools/{,*/}{install,run}').map((name) => readFileSync(name, 'utf8'));
    const commands = [...Object.values<string>(project.scripts), ...shell]
      .flatMap((text) => text.split(/&&|\|\||\n/))
      .filter((command) => /\bnpm (ci|i|install)\b/.test(command));

    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect(command).toContain('--ignore-scripts');
  });
});
