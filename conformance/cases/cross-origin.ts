import assert from 'node:assert/strict';
import type { Test } from '../case.ts';
import { operations } from '../contract/description.ts';
import { expectFailure } from '../expect.ts';
import { outcomes } from '../outcomes.ts';

/** The operations of openapi.yaml, by their paths. */
const operationsOfPaths = [...Map.groupBy(operations, ({ path }) => path)];

const allowedHeaders = 'Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match';
const exposedHeaders = 'ETag, Idempotency-Replayed, Link, Location, Retry-After, x-amzn-RequestId';

const ofGateway = { dependsOnGateway: true };
const anyOrigin = 'https://elsewhere.example';

/** Requests of scripts from other origins: refused without a configured origin. */
export default function addCases(test: Test): void {
  for (const [route, members] of operationsOfPaths) {
    const path = route.replace(/\{\w+\}/, '1');
    const methods = ['OPTIONS', ...members.map(({ method }) => method)].sort();
    const name = `A preflight request to ${path} is not found, unless an origin is configured`;
    test('13.1, 13.2', name, ofGateway, async (catalog) => {
      const { corsOrigin: origin } = catalog.session.options;
      const preflight = {
        Origin: origin ?? anyOrigin,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization',
      };
      for (const headers of [{}, preflight, { Authorization: await catalog.session.token() }]) {
        const response = await catalog.send({ method: 'OPTIONS', path, headers });
        if (origin === undefined) {
          expectFailure(response, outcomes.notFound);
          continue;
        }
        const permission = {
          status: response.status,
          origin: response.headers['access-control-allow-origin'],
          methods: response.headers['access-control-allow-methods']?.split(',').sort(),
          headers: response.headers['access-control-allow-headers'],
        };
        assert.deepEqual(permission, { status: 200, origin, methods, headers: allowedHeaders }, 'the permission');
      }
    });
  }

  test('13.1, 13.3', 'Responses can be read from the configured origin and no other', async (catalog) => {
    const Authorization = await catalog.session.token();
    const { corsOrigin } = catalog.session.options;
    const Origin = corsOrigin ?? anyOrigin;
    const { id } = await catalog.findSharedBook();
    const missing = `/book/${Number.MAX_SAFE_INTEGER}`;
    for (const [path, headers] of [
      ['/books?limit=1', { Authorization, Origin }],
      [`/book/${id}`, { Authorization, Origin, 'If-None-Match': '*' }],
      [missing, { Authorization, Origin }],
      [missing, { Origin }],
    ] as const) {
      const response = await catalog.send({ method: 'GET', path, headers });
      const { 'access-control-allow-origin': allowed, 'access-control-expose-headers': exposed } = response.headers;
      const expected = { allowed: corsOrigin, exposed: corsOrigin && exposedHeaders };
      assert.deepEqual({ allowed, exposed }, expected, `the headers of ${path}`);
    }
  });

  test('13.1, 13.3', 'The origin may read responses of API Gateway', ofGateway, async (catalog) => {
    const { corsOrigin } = catalog.session.options;
    const headers = { Origin: corsOrigin ?? anyOrigin };
    const response = await catalog.send({ method: 'GET', path: '/nowhere', headers });
    assert.deepEqual(response.headers['access-control-allow-origin'], corsOrigin, 'the origin');
  });
}
