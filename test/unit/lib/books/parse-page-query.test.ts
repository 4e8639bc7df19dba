import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePageQuery } from '../../../../lib/books/parse-page-query.ts';
import { anyText } from '../../../support/any-text.ts';

const malformedNumbers = ['', '-1', '+1', '01', '1.0', '1e3', '0x1', ' 1', '1 ', '1\n', '１', 'abc', 'null'];

describe('parsePageQuery', () => {
  test.each([null, {}, { other: '1', page: 'x' }])(
    'without parameters of ours, %j asks for all books',
    (parameters) => {
      expect(parsePageQuery(parameters)).toEqual({ after: 0 });
    },
  );

  test('every limit from 1 to 1000 and every id to go on after are taken', () => {
    const limits = fc.integer({ min: 1, max: 1000 });
    const ids = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(limits, ids, (limit, after) => {
        expect(parsePageQuery({ limit: String(limit), after: String(after) })).toEqual({ limit, after });
      }),
    );
  });

  test('a page without after starts at the first book', () => {
    expect(parsePageQuery({ limit: '7' })).toEqual({ limit: 7, after: 0 });
  });

  test('2^53-1 is the last id to go on after', () => {
    expect(parsePageQuery({ after: '9007199254740991' })).toEqual({ after: Number.MAX_SAFE_INTEGER });
  });

  test.each([...malformedNumbers, '0', '1001', '9007199254740993', '9'.repeat(100_000)])(
    'the limit %j is malformed',
    (limit) => {
      expect(parsePageQuery({ limit })).toBeUndefined();
    },
  );

  test.each([...malformedNumbers, '9007199254740992', '9999999999999999', '9'.repeat(100_000)])(
    'the id %j to go on after is malformed, with a limit and without',
    (after) => {
      expect(parsePageQuery({ after })).toBeUndefined();
      expect(parsePageQuery({ after, limit: '1' })).toBeUndefined();
    },
  );

  test('any text is taken exactly if it is the canonical text of a number in range', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const number = Number(text);
        const canonical = Number.isSafeInteger(number) && number >= 0 && String(number) === text;
        expect(parsePageQuery({ after: text })).toEqual(canonical ? { after: number } : undefined);
      }),
    );
  });
});
