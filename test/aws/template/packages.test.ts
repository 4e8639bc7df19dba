import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { describe, expect, inject, test } from 'vitest';
import { functionNames } from '../../../serverless/packaging/package-service.ts';

/** Whether V8's code caches can be made here: for the functions' arm64. */
const isLambdaPlatform = process.platform === 'linux' && process.arch === 'arm64';

const readZip = (folder: string, name: string): Buffer =>
  readFileSync(join(inject('packagesFolder'), folder, `${name}.zip`));

describe.each(functionNames)('the package of %s', (name) => {
  test('is the same for every stage', () => {
    expect(readZip('dev', name).equals(readZip('prod', name))).toBe(true);
  });

  test('holds one minified module, where it can its code cache, and nothing else', () => {
    const files = unzipSync(readZip('prod', name));
    const extensions = Object.keys(files).map((path) => /^handlers\/[a-z-]+(\..+)$/.exec(path)?.[1]);
    expect(extensions.toSorted()).toEqual(
      isLambdaPlatform ? ['.bundle.cache', '.bundle.gc-cache', '.bundle.js', '.mjs'] : ['.mjs'],
    );
    const bundle = Object.keys(files).find((path) => path.endsWith(isLambdaPlatform ? '.bundle.js' : '.mjs'));
    const text = Buffer.from(files[bundle ?? ''] ?? []).toString();
    expect(text.length / text.split('\n').length).toBeGreaterThan(1_000);
  });
});
