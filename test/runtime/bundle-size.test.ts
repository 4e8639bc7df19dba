import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

/** Bytes that an instance reads in its cold start (docs/benchmarks.md): minified code, and what V8 made of it. */
const withSdk = { code: 230_000, cache: 560_000 };
const withoutSdk = { code: 33_000, cache: 48_000 };

test.each([
  { name: 'createToken', ...withoutSdk },
  { name: 'createBook', ...withSdk },
  { name: 'listBooks', ...withSdk },
  { name: 'getBook', ...withSdk },
  { name: 'updateBook', ...withSdk },
  { name: 'deleteBook', ...withSdk },
])('$name has at most $code bytes of code and $cache of cache', async ({ name, code, cache }) => {
  const folder = join(inject('functionsFolder'), name, 'handlers');
  const sizeOf = async (extension: RegExp): Promise<number> => {
    const files = (await readdir(folder)).filter((file) => extension.test(file));
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  };

  expect(await sizeOf(/\.m?js$/)).toBeLessThanOrEqual(code);
  expect(await sizeOf(/\.cache$/)).toBeLessThanOrEqual(cache);
  expect(await sizeOf(/\.gc-cache$/)).toBeLessThanOrEqual(cache);
});
