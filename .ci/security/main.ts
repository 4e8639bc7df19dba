/**
 * `npm run verify:security`: secrets in the files of the repository, and licences and known vulnerabilities of the packages
 * in every lock file. Exit code 1 for findings; 77 without findings when the registry has no audit endpoint or cannot be
 * reached.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { auditLockFile, type Findings, findLockFiles } from './audit.ts';
import { conclude } from './conclude.ts';
import { findForeignLicences, type LockFile } from './licences.ts';

const results = [findSecrets()];
for (const lockFile of findLockFiles()) results.push(await checkLockFile(lockFile));
const { lines, exitCode } = conclude(results);
for (const line of lines) console.log(line);
process.exitCode = exitCode;

/** Every file in git except lock files, whose hashes look like secrets. */
function findSecrets(): Findings {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
    .split('\0')
    .filter((name) => name !== '' && !name.endsWith('package-lock.json'))
    .map((name) => resolve(name));
  console.log(`Secrets in ${files.length} files`);
  const folder = resolve('.ci/security');
  const options = ['--secretlintrc', 'secretlint.json', '--no-glob', '--format', 'unix'];
  const secretlint = resolve(folder, 'node_modules/.bin/secretlint');
  const { error, status, stdout, stderr } = spawnSync(secretlint, [...options, ...files], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error) throw error;
  const found = status === 0 ? [] : `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  return { found, notChecked: [] };
}

async function checkLockFile(name: string): Promise<Findings> {
  const lockFile: LockFile = JSON.parse(await readFile(name, 'utf8'));
  console.log(
    `Licences and known vulnerabilities of the ${Object.keys(lockFile.packages).length - 1} packages in ${name}`,
  );
  const licences = findForeignLicences(lockFile, name === 'package-lock.json').map(
    (line) => `${name}: ${line}`,
  );
  const { found, notChecked } = await auditLockFile('.', name);
  return { found: [...licences, ...found], notChecked };
}
