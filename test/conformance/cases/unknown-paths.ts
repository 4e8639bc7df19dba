import { createBook, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { expectEqual, expectTrue } from '../expectation.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 1.6';

const requests: readonly (readonly [string, string])[] = [
  ['GET', '/'],
  ['POST', '/'],
  ['GET', '/nowhere'],
  ['POST', '/nowhere'],
  ['PUT', '/nowhere/1'],
  ['DELETE', '/nowhere'],
  ['GET', '/Books'],
  ['GET', '/BOOK/1'],
  ['GET', '/books/1'],
  ['GET', '/book/1/title'],
  ['POST', '/token/x'],
  ['GET', '/v1/books'],
  ['GET', '/token'],
  ['PUT', '/token'],
  ['PATCH', '/token'],
  ['DELETE', '/token'],
  ['GET', '/book'],
  ['PUT', '/book'],
  ['PATCH', '/book'],
  ['DELETE', '/book'],
  ['POST', '/books'],
  ['PUT', '/books'],
  ['PATCH', '/books'],
  ['DELETE', '/books'],
  ['POST', '/book/1'],
  ['PATCH', '/book/1'],
];

const withBody = new Set(['POST', 'PUT', 'PATCH']);

/** Paths that do not exist, and methods that a path does not have. */
export const unknownPathCases = defineCases('unknown-paths', [
  ...requests.flatMap(([method, path]): CaseDefinition[] => {
    const body = withBody.has(method) ? { body: '{"title":"Emma"}' } : {};
    const request = { method, path, ...body };
    return [
      {
        name: `${method} ${path} is not found`,
        reference,
        gatewayQuestion: gatewayQuestions.unknownPath,
        run: async (context) => expectAnswer(await context.send(request), outcomes.notFound),
      },
      {
        name: `${method} ${path} is not found with a token, valid or not`,
        reference,
        gatewayQuestion: gatewayQuestions.unknownPathWithToken,
        run: async (context) => {
          for (const Authorization of [await context.token(), 'nonsense']) {
            expectAnswer(await context.send({ ...request, headers: { Authorization } }), outcomes.notFound);
          }
        },
      },
    ];
  }),
  ...['/', '/token', '/book', '/books', '/book/1', '/nowhere'].map(
    (path): CaseDefinition => ({
      name: `HEAD ${path} is not found`,
      reference,
      gatewayQuestion: gatewayQuestions.unknownPathWithToken,
      run: async (context) => {
        expectEqual('the status', (await context.call('HEAD', path)).status, 404);
      },
    }),
  ),
  {
    name: 'A body that is no JSON, sent to an unknown path, is not found',
    reference,
    gatewayQuestion: gatewayQuestions.unknownPathWithToken,
    run: async (context) => {
      expectAnswer(await context.call('POST', '/nowhere', '{'), outcomes.notFound);
    },
  },
  {
    name: 'A method that a path of a book does not have leaves the book alone, even when a header asks for another',
    reference,
    run: async (context) => {
      const book = await createBook(context);
      const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' };
      for (const method of ['POST', 'PATCH']) {
        const { status } = await context.call(method, `/book/${book.id}`, { title: 'changed' }, headers);
        expectTrue('the status', status >= 400 && status < 500, 'a refusal', status);
      }
      await expectStored(context, book);
    },
  },
]);
