import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultCredentials } from '../support/local-service.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService(defaultCredentials);

const name = 'book-catalog-client';
let folder: string;

beforeAll(async () => {
  folder = await makeTemporaryFolder(afterAll);
  run('npm', ['run', 'pack:client', '--', '--pack-destination', folder], '.');
  mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  const { version } = JSON.parse(readFileSync('tools/client/package.json', 'utf8'));
  run('tar', ['-xzf', `${name}-${version}.tgz`, '--strip-components=1', '-C', `node_modules/${name}`]);
});

test('the packed client has no dependencies, no code of the service, and all files that its package.json names', () => {
  const packed = join(folder, 'node_modules', name);
  const { dependencies, main, types, exports } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'));
  const files = readdirSync(packed, { recursive: true, encoding: 'utf8' }).map((file) => `./${file}`);

  expect(dependencies).toBeUndefined();
  expect(files.filter((file) => /\.[cm]?js$/.test(file))).toEqual(['./dist/index.js', './dist/index.mjs']);
  // TypeScript 5 finds them by `main` and `types` when it resolves as Node 10 did.
  expect(files).toEqual(
    expect.arrayContaining([main, types, ...Object.values(exports.import), ...Object.values(exports.require)]),
  );
  expect(JSON.stringify([main, types, exports])).not.toContain('tools');
});

test.each([
  ['an ECMAScript module', 'module', ['--module', 'nodenext']],
  ['a CommonJS module', 'commonjs', ['--module', 'node16']],
  ['a module that a bundler resolves', 'module', ['--module', 'esnext', '--moduleResolution', 'bundler']],
])('the examples for users of the packed client compile and run in %s', (_kind, type, options) => {
  const examples = ['README.md', 'tools/client/README.md'].map((file) => {
    const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync(file, 'utf8')) ?? [];
    return example.replace('http://localhost:8080', local.baseUrl);
  });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));

  const outputs = examples.map((example) => {
    writeFileSync(join(folder, 'example.ts'), wrapAwait(example));
    run(resolve('node_modules/.bin/tsc'), ['--strict', '--target', 'es2022', ...options, 'example.ts']);
    return run(process.execPath, ['example.js']);
  });

  expect(outputs).toEqual([
    expect.stringMatching(/^(found Jane Eyre\n)+(\d+ .*\n)*\d+ Jane Eyre Charlotte Brontë\n$/),
    expect.stringMatching(/^\d+ Dune\n/m),
  ]);
});

test('the options compile with the types of a browser and without, and a default import does not', () => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(folder, 'uses.ts'), uses);
  // They are the types of undici, without its code.
  symlinkSync(resolve('node_modules/undici-types'), join(folder, 'node_modules/undici'));

  for (const lib of ['es2023', 'es2023,dom']) {
    run(resolve('node_modules/.bin/tsc'), ['--strict', '--noEmit', '--module', 'nodenext', '--lib', lib, 'uses.ts']);
  }
});

const uses = `
import { createBookCatalogClient } from '${name}';
import { fetch, ProxyAgent } from 'undici';

const dispatcher = new ProxyAgent('http://proxy.example:3128');
const address = { baseUrl: '', username: '', password: '', getToken: undefined };
const throughProxy = (url: string, options: object) => fetch(url, { ...options, dispatcher });
for (const each of [fetch, throughProxy, globalThis.fetch]) createBookCatalogClient({ ...address, fetch: each });
createBookCatalogClient({ baseUrl: '', getToken: async () => '' });
// @ts-expect-error
createBookCatalogClient({ baseUrl: '' });
// @ts-expect-error
createBookCatalogClient({ ...address, getToken: async () => '' });
// @ts-expect-error
import noClient from '${name}';
`;

/** Calls that do not compile while the client has types. */
const wrongCalls = `
// @ts-expect-error
const create = () => catalog.createBook({ title: 1 });
// @ts-expect-error
const isOld = async () => (await catalog.getBook(1, { ifNoneMatch: '"x"' })).book.year < 1900;
`;

/** CommonJS has no `await` at the top of a module. */
function wrapAwait(example: string): string {
  const [imports = '', ...statements] = example.split('\n\n');
  return `${imports}\nasync function main() {\n${statements.join('\n')}${wrongCalls}}\nmain();\n`;
}

function run(command: string, args: readonly string[], cwd = folder): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
