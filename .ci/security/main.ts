/**
 * `npm run verify:security`: secrets in the files of the repository, and licences and known vulnerabilities of the packages
 * in every lock file. Exit code 1 when it finds any; 77 when it finds none and could not check all of them, because the
 * registry has no audit endpoint or cannot be reached.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { auditLockFile, conclude, type Findings, findLockFiles } from './audit.ts';
import { findForeignLicences, type LockFile } from './licences.ts';

const results = [findSecrets()];
for (const name of findLockFiles()) {
  const lockFile: LockFile = JSON.parse(readFileSync(name, 'utf8'));
  const count = Object.keys(lockFile.packages).length - 1;
  console.log(`Licences and known vulnerabilities of the ${count} packages in ${name}`);
  const licences = findForeignLicences(lockFile, name === 'package-lock.json');
  results.push({ found: licences.map((line) => `${name}: ${line}`), notChecked: [] });
  results.push(await auditLockFile('.', name));
}
const { lines, exitCode } = conclude(results);
for (const line of lines) console.log(line);
process.exitCode = exitCode;

/** In every file that git knows, the lock files apart, whose hashes look like secrets. */
function findSecrets(): Findings {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
    .split('\0')
    .filter((name) => name !== '' && !name.endsWith('package-lock.json'))
    .map((name) => resolve(name));
  console.log(`Secrets in ${files.length} files`);
  const cwd = resolve('.ci/security');
  const options = ['--secretlintrc', 'secretlint.json', '--no-glob', '--format', 'unix'];
  const secretlint = resolve(cwd, 'node_modules/.bin/secretlint');
  const { error, status, stdout, stderr } = spawnSync(secretlint, [...options, ...files], {
    cwd,
    encoding: 'utf8',
  });
  if (error) throw error;
  return { found: status === 0 ? [] : `${stdout}\n${stderr}`.split('\n').filter(Boolean), notChecked: [] };
}
