import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { defaultCredentials } from '../../tools/local/local-service.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { useLocalService } from './use-local-service.ts';

const local = await useLocalService(defaultCredentials);

const modules = resolve('node_modules');
const name = 'book-catalog-client';

test('the packed client works outside the repository, and the example in its README compiles as it stands', async () => {
  const folder = await makeTemporaryFolder();
  const run = (command: string, args: readonly string[], cwd = folder) =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  run('npm', ['pack', '--pack-destination', folder, '--ignore-scripts=false'], 'tools/client');
  mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  const { version, dependencies } = JSON.parse(readFileSync('tools/client/package.json', 'utf8'));
  run('tar', ['-xzf', `${name}-${version}.tgz`, '--strip-components=1', '-C', `node_modules/${name}`]);
  for (const dependency of Object.keys(dependencies)) {
    symlinkSync(join(modules, dependency), join(folder, 'node_modules', dependency));
  }
  const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync('tools/client/README.md', 'utf8')) ?? [];
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'example.ts'), example.replace('http://localhost:8080', local.baseUrl));

  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
  run(join(modules, '.bin/tsc'), [...options, 'example.ts']);

  expect(run(process.execPath, ['example.js'])).toBe('1\n');
});
