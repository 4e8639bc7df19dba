import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

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
