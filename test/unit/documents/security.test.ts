import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const project = JSON.parse(readFileSync('package.json', 'utf8'));

test('npm runs no install script, of no package', () => {
  expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
  expect(project).not.toHaveProperty('allowScripts');
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

test('Dependabot looks for new versions in each folder with Python packages', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8'));
  const pip = updates.find((update: Record<string, unknown>) => update['package-ecosystem'] === 'pip');

  const folders = globSync(['.ci/**/requirements.txt', 'test/**/requirements.txt']).map((file) => `/${dirname(file)}`);

  expect(pip.directories.toSorted()).toEqual(folders.sort());
});
