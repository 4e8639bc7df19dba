import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

/** Bytes of minified code; each kilobyte is read and parsed in every cold start (docs/benchmarks.md). */
const maxBytes = { withSdk: 230_000, withoutSdk: 33_000 };

const bundles = [
  { name: 'createToken', file: 'create-token', limit: maxBytes.withoutSdk },
  { name: 'createBook', file: 'create-book', limit: maxBytes.withSdk },
  { name: 'listBooks', file: 'list-books', limit: maxBytes.withSdk },
  { name: 'getBook', file: 'get-book', limit: maxBytes.withSdk },
  { name: 'updateBook', file: 'update-book', limit: maxBytes.withSdk },
  { name: 'deleteBook', file: 'delete-book', limit: maxBytes.withSdk },
];

test.each(bundles)('the bundle of $name has at most $limit bytes', async ({ name, file, limit }) => {
  const { size } = await stat(join(inject('functionsFolder'), name, `handlers/${file}.mjs`));

  expect(size).toBeLessThanOrEqual(limit);
});
