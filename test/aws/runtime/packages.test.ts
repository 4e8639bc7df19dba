import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { functions } from '../../../serverless/packaging/package-service.ts';
import { packageFunctions } from '../../../tools/runtime/package-functions.ts';
import { sizeOfFiles } from '../../../tools/runtime/size-of-files.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { makeTemporaryFolder } from '../../support/temporary-folder.ts';
import { invoke, settings, startForTest } from './start-function.ts';

/** Bytes that an instance reads in its cold start (docs/benchmarks.md): minified code, and its V8 code cache. */
const withSdk = { code: 240_000, cache: 575_000 };
const withoutSdk = { code: 33_000, cache: 48_000 };

const { open } = await useTables();

const optionsAndLogs = functions.flatMap(({ name, nodeOptions }) => [
  ...['', '--expose-gc', nodeOptions].map((options) => [name, options, ''] as const),
  [name, '--stack-trace-limit=20', `The code cache is not for Node ${process.version}`] as const,
]);

test.each(optionsAndLogs)(
  '%s starts with its code cache on a Node with the options "%s", or logs "%s"',
  async (name, NODE_OPTIONS, log) => {
    const instance = await startForTest(name, { DB_URL: (await open()).url, NODE_OPTIONS });
    await instance.api.initialized;

    expect(log === '' ? instance.output : instance.output.match(log)?.[0]).toBe(log);
  },
);

test.each(functions)('the package of $name is small, and holds one bundle with its caches', async ({ name }) => {
  const { code, cache } = name === 'createToken' ? withoutSdk : withSdk;
  const folder = join(inject('functionsFolder'), name, 'handlers');

  expect(await sizeOfFiles(folder, /\.m?js$/)).toBeLessThanOrEqual(code);
  expect(await sizeOfFiles(folder, /\.cache$/)).toBeLessThanOrEqual(cache);
  expect(await sizeOfFiles(folder, /\.gc-cache$/)).toBeLessThanOrEqual(cache);
  const extensions = (await readdir(folder)).map((file) => file.slice(file.indexOf('.')));
  expect(extensions.toSorted()).toEqual(['.bundle.cache', '.bundle.gc-cache', '.bundle.js', '.mjs']);
});

const compiled = {
  message: 'Token generated successfully',
  log: expect.stringContaining('The code cache is not for this bundle'),
};

/** Copies the packages, and gives the path of a file with an extension. */
async function copyPackages() {
  const folder = await makeTemporaryFolder();
  await cp(inject('functionsFolder'), folder, { recursive: true });
  const file = (extension: string) => join(folder, `createToken/handlers/create-token.bundle.${extension}`);
  return { folder, file };
}

async function requestToken(folder: string) {
  const instance = await startForTest('createToken', {}, folder);
  const body = JSON.stringify({ username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD });
  const { envelope } = await invoke(instance, createEvent({ body }));
  return { message: envelope.message, log: instance.output };
}

test.each<[string, (cache: string) => Promise<unknown>]>([
  ['is missing', (cache) => rm(cache)],
  ['is empty', (cache) => truncate(cache)],
  ['is cut off', (cache) => truncate(cache, 20_000)],
  ['is a folder', (cache) => rm(cache).then(() => mkdir(cache))],
])('a function compiles its code when the cache %s', async (_case, damage) => {
  const { folder, file } = await copyPackages();
  await damage(file('gc-cache'));

  expect(await requestToken(folder)).toEqual(compiled);
});

test('a function compiles its code when any one byte of the cache is another', async () => {
  const { folder, file } = await copyPackages();
  const cache = await readFile(file('gc-cache'));
  for (let position = 0; position < cache.length; position += Math.ceil(cache.length / 8)) {
    await writeFile(file('gc-cache'), cache.with(position, (cache[position] ?? 0) ^ 1));
    expect(await requestToken(folder)).toEqual(compiled);
  }
});

test('a function runs its own code when the cache is that of other code of the same length', async () => {
  const { folder, file } = await copyPackages();
  const code = await readFile(file('js'), 'utf8');
  await writeFile(file('js'), code.replace('Token generated successfully', 'Other code of that length ok'));

  expect(await requestToken(folder)).toEqual({ ...compiled, message: 'Other code of that length ok' });
});

test('repeated packages are equal, byte for byte', async () => {
  const again = await makeTemporaryFolder();
  await packageFunctions(again);

  for (const { name } of functions) {
    const read = (folder: string) => readFile(join(folder, 'package', `${name}.zip`));
    expect((await read(again)).equals(await read(inject('functionsFolder'))), name).toBe(true);
  }
});
