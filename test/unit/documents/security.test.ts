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
  const places = {
    'serverless.yml': /runtime: nodejs(\d+)/g,
    'package.json': /"(?:node-linux-\w+|@types\/node)": "\^(\d+)/g,
    '.nvmrc': /^(\d+)/g,
    '.devcontainer.json': /node:(\d+)/g,
    'serverless/packaging/bundle.ts': /target: 'node(\d+)/g,
    '.github/workflows/ci.yml': /node-version: (\d+)/g,
    '.github/workflows/deploy-stage.yml': /node-version: (\d+)/g,
  };
  const named = Object.entries(places).map(([file, pattern]) => {
    const versions = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, version]) => version);
    return [file, ...new Set(versions)];
  });

  expect(named).toEqual(named.map(([file]) => [file, named[0]?.[1]]));
});

test('Dependabot looks for new versions in each folder with Python packages', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8'));
  const pip = updates.find((update: Record<string, unknown>) => update['package-ecosystem'] === 'pip');

  const folders = globSync(['.ci/**/requirements.txt', 'test/**/requirements.txt']).map((file) => `/${dirname(file)}`);

  expect(pip.directories.toSorted()).toEqual(folders.sort());
});
