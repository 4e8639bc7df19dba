import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const projectFolder = resolve(import.meta.dirname, '../../..');
const project = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));

test('npm ci runs no script of a package, named in package.json or not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-install-'));
  const npm = (cwd: string, ...args: string[]) => run('npm', args, { cwd });
  try {
    const marker = join(folder, 'it-ran');
    await mkdir(join(folder, 'package'));
    const scripts = { install: `node -e "fs.writeFileSync('${marker}', '')"` };
    await writeJson(join(folder, 'package/package.json'), { name: 'intruder', version: '1.0.0', scripts });
    await npm(join(folder, 'package'), 'pack', '--pack-destination', folder);
    const dependencies = { intruder: 'file:intruder-1.0.0.tgz' };
    const { allowScripts } = project;
    await writeJson(join(folder, 'package.json'), { name: 'victim', dependencies, allowScripts });
    await npm(folder, 'install', '--package-lock-only', '--ignore-scripts', '--offline');

    cpSync(join(projectFolder, '.npmrc'), join(folder, '.npmrc'));
    await npm(folder, 'ci', '--offline');

    expect(existsSync(join(folder, 'node_modules/intruder/package.json'))).toBe(true);
    expect(existsSync(marker)).toBe(false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

// .npmrc applies to the folder that it is in and to no other.
test('every install in another folder leaves the scripts of packages out', () => {
  const shell = ['.ci/check', '.ci/run', 'tools/bench/run'].map((name) =>
    readFileSync(join(projectFolder, name), 'utf8'),
  );
  const commands = [...Object.values<string>(project.scripts), ...shell]
    .flatMap((text) => text.split(/&&|\|\||\n/))
    .filter((command) => /\bnpm (ci|i|install)\b.*--prefix/.test(command));

  expect(commands.length).toBeGreaterThan(3);
  for (const command of commands) expect(command).toContain('--ignore-scripts');
});

function writeJson(file: string, value: object): Promise<void> {
  return writeFile(file, JSON.stringify(value));
}
