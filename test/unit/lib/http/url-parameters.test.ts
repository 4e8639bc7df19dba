import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../../../conformance/any-text.ts';
import {
  linkToNext,
  locationHeader,
  readBookId,
  readPageQuery,
} from '../../../../lib/http/url-parameters.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const readPage = (queryStringParameters: APIGatewayProxyEvent['queryStringParameters']) =>
  readPageQuery(createEvent({ queryStringParameters }));

test.each([
  ['id', 1, Number.MAX_SAFE_INTEGER, (id: string) => readBookId(createEvent({ pathParameters: { id } }))],
  ['after', 0, Number.MAX_SAFE_INTEGER, (after: string) => readPage({ after }).after],
  ['limit', 1, 1000, (limit: string) => readPage({ limit }).limit],
] as const)(
  '%s is taken exactly if it is the canonical decimal of an integer from %i to %i',
  (name, min, max, read) => {
    const refusal = name === 'id' ? 'Book not found' : 'Invalid input';
    const almostNumber = fc.string({ unit: fc.constantFrom(...'0123456789+-.eE_ \n\t,xn٣') });
    const integer = fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(String);
    const inRange = fc.integer({ min, max }).map(String);
    fc.assert(
      fc.property(fc.oneof(anyText, almostNumber, integer, inRange), (text) => {
        const value = Number(text);
        if (String(value) === text && Number.isSafeInteger(value) && min <= value && value <= max) {
          expect(read(text)).toBe(value);
        } else {
          expect(() => read(text)).toThrow(refusal);
        }
      }),
      {
        numRuns: 1000,
        examples: [min - 1, min, max, max + 1, '9007199254740993'].map((text) => [String(text)]),
      },
    );
  },
);

test('without path parameters no book is named, and without after a page starts at the first book', () => {
  expect(() => readBookId(createEvent())).toThrow('Book not found');
  expect(readPage({ limit: '7' })).toEqual({ limit: 7, after: 0 });
});

test.each([
  ['', ''],
  ['/prod', ''],
  ['/prod', '/'],
])('the paths in Link and Location begin with "%s" and have no slash at the end of "%s"', (stage, end) => {
  const requested = (path: string) =>
    createEvent({ requestContext: { path: stage + path + end } as APIGatewayProxyEvent['requestContext'] });

  expect(linkToNext(requested('/books'), 10, 25)).toEqual({
    Link: `<${stage}/books?limit=10&after=25>; rel="next"`,
  });
  expect(locationHeader(requested('/book'), 7)).toEqual({ Location: `${stage}/book/7` });
});
