import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBookId } from '../../../../lib/books/book-id.ts';
import { BookNotFoundError } from '../../../../lib/books/errors.ts';
import { anyText } from '../../../support/any-text.ts';

describe('parseBookId', () => {
  test('every positive safe integer in canonical decimal is the id that it says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (id) => {
        expect(parseBookId(String(id))).toBe(id);
      }),
    );
  });

  test('an integer of any size is an id exactly if it lies between 1 and 2^53-1', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), (integer) => {
        const isId = integer >= 1n && integer <= BigInt(Number.MAX_SAFE_INTEGER);

        expect(outcomeOf(String(integer))).toBe(isId ? Number(integer) : 'not found');
      }),
    );
  });

  test('any text is an id exactly if it is the canonical text of one', () => {
    const almostId = fc.string({ unit: fc.constantFrom(...'0123456789+-.eE_ \n\t,xn٣') });
    fc.assert(
      fc.property(fc.oneof(anyText, almostId), (text) => {
        const id = Number(text);
        const isId = Number.isSafeInteger(id) && id >= 1 && String(id) === text;

        expect(outcomeOf(text)).toBe(isId ? id : 'not found');
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    'abc',
    '',
    ' ',
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    '0x1',
    '1n',
    ' 1',
    '1 ',
    '1\n',
    '1_000',
    '１',
    'NaN',
    'Infinity',
    '9007199254740992',
    '9007199254740993',
    '9999999999999999',
    '99999999999999999',
    '1'.repeat(100_000),
  ])('the path parameter %j names no book', (text) => {
    expect(() => parseBookId(text)).toThrow(BookNotFoundError);
  });

  test('2^53-1 is the last id', () => {
    expect(parseBookId('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('a missing path parameter names no book', () => {
    expect(() => parseBookId(undefined)).toThrow(BookNotFoundError);
  });
});

function outcomeOf(text: string): number | 'not found' {
  try {
    return parseBookId(text);
  } catch (error) {
    if (error instanceof BookNotFoundError) return 'not found';
    throw error;
  }
}
