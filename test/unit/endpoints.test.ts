import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../conformance/contract/description.ts';
import { functions } from '../../serverless/packaging/package-service.ts';

test('each file in handlers/ is a function in serverless.yml, which names its tableActions for its role', () => {
  const files = functions.map(({ handler }) => `${handler.split('.')[0]}.ts`);
  const withoutRole = functions.filter(({ tableActions }) => tableActions === undefined);

  expect(files.toSorted()).toEqual(globSync('handlers/*').toSorted());
  expect(withoutRole.map(({ name }) => name)).toEqual([]);
});

test('serverless.yml, openapi.yaml and the sections of docs/specification.md have the same endpoints', () => {
  const served = functions.map(({ event: { method, path } }) => `${method} ${path}`).toSorted();
  const described = operations.map(({ route }) => route).toSorted();
  const sections = readFileSync('docs/specification.md', 'utf8').matchAll(/^## \d+\. ([A-Z]+ \/.*)$/gm);
  const specified = Array.from(sections, ([, route]) => route).toSorted();

  expect({ 'openapi.yaml': described, specification: specified }).toEqual({
    'openapi.yaml': served,
    specification: served,
  });
});
