import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../conformance/contract/description.ts';
import { functions } from '../../serverless/packaging/package-service.ts';

const specification = readFileSync('docs/specification.md', 'utf8');

const served = functions.map(({ event: { method, path } }) => `${method} ${path}`);
const described = operations.map(({ route }) => route);

test('serverless.yml and openapi.yaml have the same endpoints, and the specification has them', () => {
  const only = (routes: string[], others: string[]) => routes.filter((route) => !others.includes(route));

  expect([
    ...only(served, described).map((route) => `${route} is in serverless.yml and not in openapi.yaml`),
    ...only(described, served).map((route) => `${route} is in openapi.yaml and not in serverless.yml`),
    ...served
      .filter((route) => !specification.includes(`. ${route}\n`))
      .map((route) => `${route} has no section in docs/specification.md`),
  ]).toEqual([]);
});
