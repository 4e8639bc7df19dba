import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadLocalConfig } from '../../serverless/local/local-config.ts';

const read = (file: string) => readFileSync(file, 'utf8');

test('package.json, its lock file, openapi.yaml and the changelog name the same version', () => {
  const { version } = JSON.parse(read('package.json'));

  expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe(version);
  expect(parse(read('openapi.yaml')).info.version).toBe(version);
  expect(/^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
});

test('.env.example holds the defaults', () => {
  expect(loadLocalConfig('/nowhere', parseEnv(read('.env.example')))).toEqual(
    loadLocalConfig('/nowhere', {}),
  );
});

test('.env.example names every setting of README.md', () => {
  const inReadme = [...read('README.md').matchAll(/^\| `([A-Z][A-Z_]+)` \|/gm)].map(([, name]) => name);
  const inExample = [...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);

  expect(inReadme.length).toBeGreaterThan(4);
  // LOG_FORMAT counts in the environment only.
  expect([...inExample, 'LOG_FORMAT'].toSorted()).toEqual(inReadme.toSorted());
});
