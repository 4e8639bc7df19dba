import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { functions } from '../../../serverless/functions.ts';
import { makeTemporaryFolder } from '../../support/temporary-folder.ts';
import { packageFunctions } from './package-functions.ts';

/** Bytes of minified code, which Node compiles in a cold start (docs/scaling.md). */
const maxBytes = { withSdk: 230_000, withoutSdk: 30_000 };

test.each(functions)('the package of $name holds one small bundle, and nothing else', async ({ name, handler }) => {
  const bundle = handler.replace(/\.handler$/, '.mjs');
  const folder = join(inject('functionsFolder'), name);

  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(['handlers', bundle]);
  const { size } = await stat(join(folder, bundle));
  expect(size).toBeLessThanOrEqual(name === 'createToken' ? maxBytes.withoutSdk : maxBytes.withSdk);
});

test('repeated packages are equal, byte for byte', async () => {
  const again = await makeTemporaryFolder();
  await packageFunctions(again);

  for (const { name } of functions) {
    const read = (folder: string) => readFile(join(folder, 'package', `${name}.zip`));
    expect((await read(again)).equals(await read(inject('functionsFolder'))), name).toBe(true);
  }
});
