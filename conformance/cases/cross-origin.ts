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

/** Requests of scripts from other origins. `Catalog.send` checks the origin that may read each response. */
export default function addCases(test: Test): void {
  for (const [route, members] of operationsOfPaths) {
    const path = route.replace(/\{\w+\}/, '1');
    const methods = ['OPTIONS', ...members.map(({ method }) => method)].sort();
    const name = `A preflight request to ${path} is not found, unless an origin is configured`;
    test('13.1, 13.2', name, ofGateway, async (catalog) => {
      const isAllowed = catalog.session.options.corsOrigin !== undefined;
      const preflight = {
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization',
      };
      for (const headers of [{}, preflight, { Authorization: await catalog.session.token() }]) {
        const response = await catalog.send({ method: 'OPTIONS', path, headers });
        if (!isAllowed) {
          expectFailure(response, outcomes.notFound);
          continue;
        }
        assert.equal(response.status, 200, 'the status');
        assert.deepEqual(response.headers['access-control-allow-methods']?.split(',').sort(), methods, 'the methods');
        assert.equal(response.headers['access-control-allow-headers'], allowedHeaders, 'the headers');
      }
    });
  }

  test('13.1, 13.3', 'The configured origin and no other may read the headers of responses', async (catalog) => {
    const Authorization = await catalog.session.token();
    const { corsOrigin } = catalog.session.options;
    const { id } = await catalog.findSharedBook();
    const missingBook = `/book/${Number.MAX_SAFE_INTEGER}`;
    for (const [path, headers] of [
      ['/books?limit=1', { Authorization }],
      [`/book/${id}`, { Authorization, 'If-None-Match': '*' }],
      [missingBook, { Authorization }],
      [missingBook, {}],
    ] as const) {
      const { headers: received } = await catalog.send({ method: 'GET', path, headers });
      assert.equal(received['access-control-expose-headers'], corsOrigin && exposedHeaders, `headers of ${path}`);
    }
  });

  test('13.1, 13.3', 'The configured origin and no other may read responses of API Gateway', ofGateway, (catalog) =>
    catalog.send({ method: 'GET', path: '/nowhere' }),
  );
}
