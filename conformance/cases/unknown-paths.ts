import assert from 'node:assert/strict';
import type { Test } from '../case.ts';
import { type Catalog, dune, expectBooks, expectCreated } from '../catalog.ts';
import { expectData, expectFailure, expectSuccess } from '../expect.ts';
import type { RequestHeaders } from '../http-messages.ts';
import { outcomes } from '../outcomes.ts';

const unknown: Readonly<Record<string, readonly string[]>> = {
  '/': ['GET', 'POST', 'HEAD'],
  '/nowhere': ['GET', 'POST', 'DELETE', 'HEAD'],
  '/nowhere/1': ['PUT'],
  '/Books': ['GET'],
  '/BOOK/1': ['GET'],
  '/books/1': ['GET'],
  '/book/1/title': ['GET'],
  '/token/x': ['POST'],
  '/v1/books': ['GET'],
  '/token': ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'],
  '/book': ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'],
  '/books': ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'],
  '/book/1': ['POST', 'PATCH', 'HEAD'],
};

const ofGateway = { dependsOnGateway: true };

/** Paths that do not exist, and methods that a path does not have. */
export default function addCases(test: Test): void {
  for (const [path, methods] of Object.entries(unknown)) {
    for (const method of methods) {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{"title":"Emma"}' } : {};
      const expectNotFound = async (catalog: Catalog, headers: RequestHeaders) => {
        const response = await catalog.send({ method, path, headers, ...body });
        if (method !== 'HEAD') expectFailure(response, outcomes.notFound);
        else assert.equal(response.status, 404, `the status is 404, got ${response.status}`);
      };
      test('1.6', `${method} ${path} is not found`, ofGateway, (catalog) => expectNotFound(catalog, {}));
      test('1.6', `${method} ${path} is not found with a token, valid or not`, ofGateway, async (catalog) => {
        await expectNotFound(catalog, { Authorization: await catalog.session.token() });
        await expectNotFound(catalog, { Authorization: 'nonsense' });
      });
    }
  }

  test('1.6', 'One slash at the end of a path is ignored, more are not found', ofGateway, async (catalog) => {
    const created = await catalog.call('POST', '/book/', dune);
    const book = expectCreated(created, dune);
    assert.equal(created.headers.location, catalog.session.resolve(`/book/${book.id}`).pathname, 'Location');
    expectData(await catalog.call('GET', `/book/${book.id}/`), book);
    expectData(await catalog.call('PUT', `/book/${book.id}/`, {}), book);
    const { username, password } = catalog.session.options;
    expectSuccess(await catalog.call('POST', '/token/', { username, password }));
    const page = await catalog.call('GET', `/books/?limit=1&after=${book.id - 1}`);
    assert.deepEqual(expectBooks(page), [book], 'the page');
    expectFailure(await catalog.call('GET', '/books//'), outcomes.notFound);
    expectData(await catalog.call('DELETE', `/book/${book.id}/`), null);
  });

  test('1.6', 'A method that a book does not have leaves the book alone', async (catalog) => {
    const book = await catalog.findSharedBook();
    const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' };
    for (const method of ['POST', 'PATCH']) {
      const { status } = await catalog.call(method, `/book/${book.id}`, { title: 'changed' }, headers);
      assert.ok(status >= 400 && status < 500, `the status of ${method} is 4xx, got ${status}`);
    }
    await catalog.expectStored(book);
  });
}
