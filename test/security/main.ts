/**
 * `npm run check:security`: secrets in the files of the repository, licences of all packages, and known
 * vulnerabilities in them. Exit code 1 when it finds any. A registry without an audit endpoint is no finding; it is
 * said.
 */

import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readAuditReport } from './audit-report.ts';
import { findForeignLicences } from './licences.ts';

/** The product's comes first; the others are of tests alone. */
const lockFiles = ['package-lock.json', 'test/runtime/package-lock.json', 'test/security/package-lock.json'];

/** Far more than npm audit writes about all packages here. */
const maxOutputBytes = 64 * 1024 * 1024;

const findings = [...findSecrets(), ...(await findLicences()), ...findVulnerabilities()];
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? 'Nothing found.' : `${findings.length} found.`);
process.exitCode = findings.length === 0 ? 0 : 1;

/** Every file that git knows, the lock files apart, whose hashes look like secrets. */
function findSecrets(): string[] {
  const files = run('git', ['ls-files', '-z'])
    .stdout.split('\0')
    .filter((name) => name !== '' && !name.endsWith('package-lock.json'))
    .map((name) => resolve(name));
  if (files.length === 0) return ['git lists no files, so none were looked at for secrets.'];
  console.log(`Secrets in ${files.length} files`);
  const options = ['--secretlintrc', 'secretlint.json', '--no-glob', '--format', 'unix'];
  const folder = resolve('test/security');
  const secretlint = resolve(folder, 'node_modules/.bin/secretlint');
  const { status, stdout, stderr } = run(secretlint, [...options, ...files], folder);
  if (status === 0) return [];
  return [...stdout.split('\n'), ...stderr.split('\n')].filter((line) => line !== '');
}

async function findLicences(): Promise<string[]> {
  const found = await Promise.all(
    lockFiles.map(async (name, index) => {
      const lockFile = JSON.parse(await readFile(name, 'utf8'));
      console.log(`Licences of the ${Object.keys(lockFile.packages).length - 1} packages in ${name}`);
      return findForeignLicences(lockFile, index === 0).map((line) => `${name}: ${line}`);
    }),
  );
  return found.flat();
}

/** Anything in what is deployed; in tools only what is grave. */
function findVulnerabilities(): string[] {
  return [...audit('deployed packages', ['--omit=dev'], 'info'), ...audit('all packages', [], 'high')];
}

function audit(subject: string, options: readonly string[], lowest: 'info' | 'high'): string[] {
  console.log(`Known vulnerabilities of ${subject}, ${lowest} or worse`);
  const result = readAuditReport(run('npm', ['audit', '--json', ...options]).stdout, lowest);
  if (result.kind === 'unknown') console.log(`  Not known: ${result.reason}`);
  return result.kind === 'vulnerable' ? result.packages.map((name) => `vulnerable: ${name}`) : [];
}

function run(command: string, args: readonly string[], cwd?: string) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: maxOutputBytes,
    ...(cwd && { cwd }),
  });
  if (error) throw error;
  return { status, stdout, stderr };
}
