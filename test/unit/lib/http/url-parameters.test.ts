import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../../../conformance/any-text.ts';
import {
  linkToNext,
  locationHeader,
  readBookId,
  readPageQuery,
} from '../../../../lib/http/url-parameters.ts';
import { createEvent } from '../../../support/load-handlers.ts';

type Query = APIGatewayProxyEvent['queryStringParameters'];

const readId = (id?: string) => readBookId(createEvent({ pathParameters: id === undefined ? null : { id } }));
const readPage = (queryStringParameters: Query) => readPageQuery(createEvent({ queryStringParameters }));

/** Reads an id, or a position in the list; `undefined` stands for a refusal with its message. */
const readers = {
  'the id of a book': (text: string) => orRefused('Book not found', () => readId(text)),
  'the id that a page comes after': (text: string) =>
    orRefused('Invalid input', () => readPage({ after: text }).after),
  'the length of a page': (text: string) => orRefused('Invalid input', () => readPage({ limit: text }).limit),
};

const almostNumber = fc.string({ unit: fc.constantFrom(...'0123456789+-.eE_ \n\t,xn٣') });

describe.each([
  ['the id of a book', 1, Number.MAX_SAFE_INTEGER],
  ['the id that a page comes after', 0, Number.MAX_SAFE_INTEGER],
  ['the length of a page', 1, 1000],
] as const)('%s', (name, minimum, maximum) => {
  const read = readers[name];

  const refused = [
    ...['abc', '', ' ', '-1', '-0', '+1', '00', '01', '1.0', '1e3', '0x1', '1n', '1_0', ' 1', '1 ', '1\n'],
    ...['١', '１', 'NaN', 'Infinity', 'null', '9007199254740992', '9007199254740993', '9999999999999999'],
    ...['10000000000000000', '1'.repeat(100_000), String(minimum - 1), String(maximum + 1)],
  ];

  test(`any text is taken exactly if it is the canonical decimal of an integer from ${minimum} to ${maximum}`, () => {
    const inRange = fc.integer({ min: minimum, max: maximum }).map(String);
    const integer = fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(String);
    fc.assert(
      fc.property(fc.oneof(anyText, almostNumber, integer, inRange), (text) => {
        const value = Number(text);
        const taken = String(value) === text && Number.isSafeInteger(value) && value >= minimum;
        expect(read(text)).toBe(taken && value <= maximum ? value : undefined);
      }),
      { numRuns: 1000 },
    );
    expect([minimum, maximum].map(String).map(read)).toEqual([minimum, maximum]);
    for (const text of refused) expect(read(text), text).toBeUndefined();
  });
});

test('a missing path parameter names no book', () => {
  expect(() => readId()).toThrow('Book not found');
});

test('a page starts at the first book when nothing else is said', () => {
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

function orRefused<Value>(message: string, read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    expect((error as Error).message).toBe(message);
    return undefined;
  }
}
