import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { sizeOfFiles } from './size-of-files.ts';

/** Bytes that an instance reads in its cold start (docs/benchmarks.md): minified code, and what V8 made of it. */
const withSdk = { code: 240_000, cache: 560_000 };
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

  expect(await sizeOfFiles(folder, /\.m?js$/)).toBeLessThanOrEqual(code);
  expect(await sizeOfFiles(folder, /\.cache$/)).toBeLessThanOrEqual(cache);
  expect(await sizeOfFiles(folder, /\.gc-cache$/)).toBeLessThanOrEqual(cache);
});
