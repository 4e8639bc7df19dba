import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const project = JSON.parse(readFileSync('package.json', 'utf8'));

const writeJson = (file: string, value: object) => writeFile(file, JSON.stringify(value));

const run = promisify(execFile);

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
  const shell = globSync(['tools/{,*/}install', 'test/aws/runtime/install']).map((name) => readFileSync(name, 'utf8'));
  const commands = [...Object.values<string>(project.scripts), ...shell]
    .flatMap((text) => text.split(/&&|\|\||\n/))
    .filter((command) => /\bnpm (ci|i|install)\b/.test(command));

  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(command).toContain('--ignore-scripts');
});
