import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { describe, expect, inject, test } from 'vitest';
import { functionNames } from '../support/package-service.ts';

const readZip = (folder: string, name: string): Buffer =>
  readFileSync(join(inject('packagesFolder'), folder, `${name}.zip`));

describe.each(functionNames)('the package of %s', (name) => {
  test('is the same, byte for byte, when it is made again', () => {
    expect(readZip('prod-again', name).equals(readZip('prod', name))).toBe(true);
  });

  test('is the same for every stage', () => {
    expect(readZip('dev', name).equals(readZip('prod', name))).toBe(true);
  });

  test('holds one minified module and nothing else', () => {
    const files = unzipSync(readZip('prod', name));
    const [path = '', ...others] = Object.keys(files);
    expect(others).toEqual([]);
    expect(path).toMatch(/^handlers\/[a-z-]+\.mjs$/);
    const text = Buffer.from(files[path] ?? []).toString();
    expect(text.length / text.split('\n').length).toBeGreaterThan(1_000);
  });
});
