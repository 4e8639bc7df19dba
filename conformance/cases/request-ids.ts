import assert from 'node:assert/strict';
import type { Test } from '../case.ts';

/** The ids by which a response is found in the log. `Catalog.send` checks that each is another one. */
export default function addCases(test: Test): void {
  test('1.9', 'Every response has an id of its own', { dependsOnGateway: true }, async (catalog) => {
    const { id } = await catalog.findSharedBook();
    const responses = [
      await catalog.call('GET', `/book/${id}`),
      await catalog.call('GET', `/book/${id}`, undefined, { 'If-None-Match': '*' }),
      await catalog.call('GET', '/books?limit=1'),
      await catalog.call('GET', '/books?limit=0'),
      await catalog.call('GET', '/nowhere'),
      await catalog.send({ method: 'GET', path: '/books' }),
      await catalog.logIn({}),
    ];
    const ids = responses.map(({ headers }) => headers['x-amzn-requestid']);
    assert.ok(
      ids.every((each) => typeof each === 'string' && each !== ''),
      `x-amzn-RequestId is there, got ${ids}`,
    );
  });
}
