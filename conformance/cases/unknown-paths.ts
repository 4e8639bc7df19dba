import assert from 'node:assert/strict';
import { createBook, expectStored } from '../books.ts';
import { defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectResponse } from '../expect.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import type { RequestHeaders } from '../http-client.ts';
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

const withoutToken = { gatewayQuestion: gatewayQuestions.unknownPath };
const withToken = { gatewayQuestion: gatewayQuestions.unknownPathWithToken };

/** Paths that do not exist, and methods that a path does not have. */
export const unknownPathCases = defineCases('unknown-paths', (test) => {
  for (const [path, methods] of Object.entries(unknown)) {
    for (const method of methods) {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{"title":"Emma"}' } : {};
      const expectNotFound = async (context: ConformanceContext, headers: RequestHeaders) => {
        const response = await context.send({ method, path, headers, ...body });
        if (method !== 'HEAD') expectResponse(response, outcomes.notFound);
        else assert.equal(response.status, 404, `the status is 404, got ${response.status}`);
      };
      test('1.6', `${method} ${path} is not found`, withoutToken, (context) => expectNotFound(context, {}));
      test('1.6', `${method} ${path} is not found with a token, valid or not`, withToken, async (context) => {
        await expectNotFound(context, { Authorization: await context.token() });
        await expectNotFound(context, { Authorization: 'nonsense' });
      });
    }
  }

  test('1.6', 'A body that is no JSON, sent to an unknown path, is not found', withToken, async (context) =>
    expectResponse(await context.call('POST', '/nowhere', '{'), outcomes.notFound),
  );

  test('1.6', 'A method that a book does not have leaves the book alone', async (context) => {
    const book = await createBook(context);
    const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' };
    for (const method of ['POST', 'PATCH']) {
      const { status } = await context.call(method, `/book/${book.id}`, { title: 'changed' }, headers);
      assert.ok(status >= 400 && status < 500, `the status of ${method} is 4xx, got ${status}`);
    }
    await expectStored(context, book);
  });
});
