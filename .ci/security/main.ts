/**
 * `npm run verify:security`: secrets in the files of the repository, and licences and known vulnerabilities of the packages
 * in every lock file. Exit code 77 when it finds none and could not check all of them.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { auditLockFile, exitCodeOf } from './audit.ts';
import { findForeignLicences, type LockFile } from './licences.ts';

const found = findSecrets();
const notChecked: string[] = [];
for (const name of listFiles('*package-lock.json')) {
  console.log(`Licences and known vulnerabilities of the packages in ${name}`);
  const lockFile: LockFile = JSON.parse(readFileSync(name, 'utf8'));
  const licences = findForeignLicences(lockFile, name === 'package-lock.json');
  const audit = await auditLockFile('.', name);
  found.push(...licences.map((line) => `${name}: ${line}`), ...audit.found);
  notChecked.push(...audit.notChecked);
}
for (const line of found) console.log(line);
for (const line of notChecked) console.log(`NOT checked: ${line}`);
console.log(`${found.length} found.`);
process.exitCode = exitCodeOf({ found, notChecked });

/** In every file that git knows, the lock files apart, whose hashes look like secrets. */
function findSecrets(): string[] {
  const files = listFiles(':!*package-lock.json').map((name) => resolve(name));
  console.log(`Secrets in ${files.length} files`);
  const rules = ['--secretlintrc', resolve('.ci/security/secretlint.json')];
  // secretlint looks for its rules there.
  const cwd = resolve('tools');
  const secretlint = resolve(cwd, 'node_modules/.bin/secretlint');
  const args = [...rules, '--no-glob', '--format', 'unix', ...files];
  const { error, status, stdout, stderr } = spawnSync(secretlint, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  return status === 0 ? [] : `${stdout}\n${stderr}`.split('\n').filter(Boolean);
}

/** Lists the files that git knows, by a pattern. */
function listFiles(pattern: string): string[] {
  return execFileSync('git', ['ls-files', '-z', pattern], { encoding: 'utf8' }).split('\0').filter(Boolean);
}
