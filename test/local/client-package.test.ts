import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultCredentials } from '../support/local-service.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { useLocalService } from './use-local-service.ts';

const local = await useLocalService(defaultCredentials);

const name = 'book-catalog-client';
let folder: string;

beforeAll(async () => {
  folder = await makeTemporaryFolder(afterAll);
  run('npm', ['pack', '--pack-destination', folder, '--ignore-scripts=false'], 'tools/client');
  mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  const { version, dependencies } = JSON.parse(readFileSync('tools/client/package.json', 'utf8'));
  run('tar', ['-xzf', `${name}-${version}.tgz`, '--strip-components=1', '-C', `node_modules/${name}`]);
  for (const dependency of Object.keys(dependencies)) {
    symlinkSync(resolve('node_modules', dependency), join(folder, 'node_modules', dependency));
  }
});

test.each([
  ['an ECMAScript module', 'module', ['--module', 'nodenext']],
  ['a CommonJS module', 'commonjs', ['--module', 'node16']],
  [
    'a CommonJS module that resolves as in Node 10',
    'commonjs',
    ['--module', 'commonjs', '--moduleResolution', 'node10'],
  ],
])('the example in the README of the packed client compiles and runs in %s', (_kind, type, options) => {
  const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync('tools/client/README.md', 'utf8')) ?? [];
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
  writeFileSync(join(folder, 'example.ts'), wrapAwait(example.replace('http://localhost:8080', local.baseUrl)));

  // TypeScript 7 does not resolve as in Node 10.
  const tsc = resolve('tools/node_modules/.bin/tsc');
  run(tsc, ['--strict', '--target', 'es2022', ...options, 'example.ts']);

  expect(run(process.execPath, ['example.js'])).toMatch(/^\d+ Dune\n/m);
});

/** A call that does not compile while the client has types. */
const wrongCall = `
// @ts-expect-error
const create = () => client.POST('/book', { body: { title: 1 } });
`;

/** CommonJS has no `await` at the top of a module. */
function wrapAwait(example: string): string {
  const [imports = '', ...statements] = example.split('\n\n');
  return `${imports}\nasync function main() {\n${statements.join('\n')}${wrongCall}}\nmain();\n`;
}

function run(command: string, args: readonly string[], cwd = folder): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
