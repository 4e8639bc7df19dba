import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** What the files of a folder may import from outside of it, packages apart. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  '.ci': ['serverless/', 'tools/'],
  conformance: ['serverless/command-line.ts'],
  handlers: ['lib/'],
  lib: [],
  'lib/auth': ['lib/log.ts', 'lib/named-error.ts'],
  'lib/books': ['lib/fields.ts', 'lib/named-error.ts'],
  'lib/dynamodb': ['lib/books/', 'lib/fields.ts', 'lib/invocation-signal.ts', 'lib/named-error.ts'],
  'lib/http': ['lib/fields.ts', 'lib/named-error.ts'],
  serverless: ['lib/'],
  tools: ['conformance/', 'lib/', 'serverless/'],
};

test.each(Object.entries(allowed))('files in %s import from outside of it %j only', (folder, outside) => {
  const files = globSync(`${folder}/**/*.{js,mjs,ts}`, { exclude: ['**/node_modules/**'] });
  const imports = files.flatMap((file) => {
    const found = readFileSync(file, 'utf8').matchAll(/\b(?:from|import)[ (]'(\.[^']+)'/g);
    return [...found].map(([, path = '']) => join(dirname(file), path));
  });

  expect(files.length).toBeGreaterThan(0);
  const permitted = [`${folder}/`, ...outside];
  expect(imports.filter((path) => !permitted.some((start) => path.startsWith(start)))).toEqual([]);
});
