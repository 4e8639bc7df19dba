import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { auditLockFile, conclude, findLockFiles, readVulnerablePackages } from '../../.ci/security/audit.ts';
import { findForeignLicences } from '../../.ci/security/licences.ts';

const project = JSON.parse(readFileSync('package.json', 'utf8'));

async function withFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-'));
  try {
    await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const writeJson = (file: string, value: object) => writeFile(file, JSON.stringify(value));

describe('known vulnerabilities', () => {
  const left = { name: 'left', versions: { '1.0.0': { name: 'left', version: '1.0.0' } } };
  const advisory = { id: 1, url: 'x', title: 'It falls over', severity: 'high', vulnerable_versions: '<2' };

  /** A registry that knows one package, and says of it what it is given. */
  const registry =
    (advisories: object): RequestListener =>
    (request, response) => {
      const isAudit = request.url?.startsWith('/-/npm/v1/security/advisories/bulk');
      const body = isAudit ? advisories : { ...left, 'dist-tags': { latest: '1.0.0' } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
    };
  const withoutAuditEndpoint: RequestListener = (_request, response) => response.writeHead(405).end();

  test.each([
    ['without an advisory', registry({}), { found: [], notChecked: [] }],
    [
      'with one',
      registry({ left: [{ ...advisory, cwe: [], cvss: {} }] }),
      { found: ['package-lock.json: vulnerable: left (high)'], notChecked: [] },
    ],
    [
      'without an audit endpoint',
      withoutAuditEndpoint,
      { found: [], notChecked: [expect.stringContaining('known vulnerabilities (405 Method Not Allowed')] },
    ],
  ])('a lock file is checked against a registry %s', async (_, listener, expected) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await withFolder(async (folder) => {
      const victim = { name: 'victim', version: '1.0.0', dependencies: { left: '1.0.0' } };
      const packages = { '': victim, 'node_modules/left': { version: '1.0.0' } };
      await writeJson(join(folder, 'package.json'), victim);
      await writeJson(join(folder, 'package-lock.json'), {
        ...victim,
        lockfileVersion: 3,
        requires: true,
        packages,
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

      expect(await auditLockFile(folder, 'package-lock.json', ['--registry', url])).toEqual(expected);
    });
    server.close();
  });

  test('every lock file that git knows is checked, the product’s first', () => {
    const files = findLockFiles();

    expect(files[0]).toBe('package-lock.json');
    expect(files).toContain('tools/bench/package-lock.json');
  });

  test('vulnerabilities count from the given severity up; no report says nothing about them', () => {
    const severities = { a: 'moderate', b: 'high', c: 'critical' };
    const vulnerabilities = Object.fromEntries(
      Object.entries(severities).map(([name, severity]) => [name, { severity }]),
    );
    const report = JSON.stringify({ auditReportVersion: 2, vulnerabilities });

    expect(readVulnerablePackages(report, 'high')).toEqual(['b (high)', 'c (critical)']);
    expect(readVulnerablePackages('{"auditReportVersion":2,"vulnerabilities":{}}', 'info')).toEqual([]);
    expect(readVulnerablePackages('{"message":"405"}', 'info')).toBe('405');
    for (const output of ['', 'no JSON']) {
      expect(readVulnerablePackages(output, 'info')).toBe('npm audit gave no report');
    }
  });

  test('only when everything was checked, nothing is found', () => {
    const clean = { found: [], notChecked: [] };
    const unchecked = { found: [], notChecked: ['a'] };
    const dirty = { found: ['b'], notChecked: [] };

    expect(conclude([clean])).toEqual({ lines: ['Nothing found.'], exitCode: 0 });
    expect(conclude([clean, unchecked])).toEqual({
      lines: ['NOT checked: a', 'Not everything was checked.'],
      exitCode: 77,
    });
    expect(conclude([unchecked, dirty])).toEqual({ lines: ['b', 'NOT checked: a', '1 found.'], exitCode: 1 });
  });
});

describe('licences', () => {
  const find = (license: unknown, marks = {}, deployed = true) =>
    findForeignLicences({ packages: { '': {}, 'node_modules/@a/b': { license, ...marks } } }, deployed);

  test.each(['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-or-later)', '(MIT AND Zlib)', 'MIT OR Apache-2.0'])(
    '%s may be deployed',
    (license) => {
      expect(find(license)).toEqual([]);
    },
  );

  test.each([
    'GPL-3.0-only',
    'MPL-2.0',
    'MIT AND GPL-3.0-only',
    '(GPL-2.0 OR AGPL-3.0)',
    'UNLICENSED',
    '',
    null,
  ])('%j may not be deployed', (license) => {
    expect(find(license)).toEqual([`@a/b: ${JSON.stringify(license)}, deployed`]);
  });

  test('no licence may not be deployed; a tool, and what is not deployed, may have more licences', () => {
    expect(find(undefined)).toEqual(['@a/b: null, deployed']);
    for (const marks of [{ dev: true }, { devOptional: true }]) {
      expect(find('MPL-2.0', marks)).toEqual([]);
      expect(find('AGPL-3.0', marks)).toEqual(['@a/b: "AGPL-3.0"']);
    }
    expect(find('MPL-2.0', {}, false)).toEqual([]);
  });
});

describe('install scripts of packages', () => {
  test('npm ci runs none, of a package that package.json names or not', async () => {
    await withFolder(async (folder) => {
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
  });

  // .npmrc applies to the folder that it is in and to no other.
  test('every install in another folder leaves them out', () => {
    const shell = ['.ci/check', '.ci/run', 'tools/bench/run'].map((name) => readFileSync(name, 'utf8'));
    const commands = [...Object.values<string>(project.scripts), ...shell]
      .flatMap((text) => text.split(/&&|\|\||\n/))
      .filter((command) => /\bnpm (ci|i|install)\b.*--prefix/.test(command));

    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) expect(command).toContain('--ignore-scripts');
  });
});
