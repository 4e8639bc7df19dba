import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isIntegerLiteral } from '../../../../lib/http/json-body.ts';

const digits = fc.stringMatching(/^[0-9]{1,30}$/);

/** Mostly zeros, where the digits decide. */
const sparseDigits = fc.stringMatching(/^0{0,20}[0-9]?0{0,20}[0-9]?$/).filter((text) => text !== '');

const literal = fc.record({
  sign: fc.constantFrom('', '-'),
  integer: fc.oneof(digits, sparseDigits).map((text) => text.replace(/^0+(?=\d)/, '')),
  fraction: fc.option(fc.oneof(digits, sparseDigits), { nil: undefined }),
  exponent: fc.option(fc.integer({ min: -60, max: 60 }), { nil: undefined }),
  exponentSign: fc.constantFrom('e', 'E'),
  plus: fc.constantFrom('', '+'),
  exponentZeros: fc.constantFrom('', '0', '000'),
});

describe('isIntegerLiteral', () => {
  test('any literal is an integer exactly if its fraction in exact arithmetic has denominator 1', () => {
    fc.assert(
      fc.property(literal, ({ sign, integer, fraction, exponent, exponentSign, plus, exponentZeros }) => {
        const exponentText =
          exponent === undefined
            ? ''
            : `${exponentSign}${exponent < 0 ? '-' : plus}${exponentZeros}${Math.abs(exponent)}`;
        const text = `${sign}${integer}${fraction === undefined ? '' : `.${fraction}`}${exponentText}`;

        // The value is numerator / 10 ** denominatorPower.
        const numerator = BigInt(integer + (fraction ?? ''));
        const denominatorPower = (fraction ?? '').length - (exponent ?? 0);
        const expected = denominatorPower <= 0 || numerator % 10n ** BigInt(denominatorPower) === 0n;
        expect(isIntegerLiteral(text), text).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['0', true],
    ['-0.0', true],
    ['0e-999999999999999999999', true],
    ['1e999999999999999999999', true],
    ['1e-999999999999999999999', false],
    ['100e-2', true],
    ['100e-3', false],
    ['0.001e3', true],
    ['0.001e2', false],
    ['2020.00000000000000000001', false],
  ])('%s is an integer: %s', (text, expected) => {
    expect(isIntegerLiteral(text)).toBe(expected);
  });

  test.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '+1',
    '.5',
    '5.',
    '1e',
    'e1',
    '0x10',
    '1n',
    '1_000',
    'NaN',
    'Infinity',
    '"1"',
    '١',
  ])('%j is no number literal and so no integer', (text) => {
    expect(isIntegerLiteral(text)).toBe(false);
  });

  test('a megabyte of zeros takes no time to speak of, wherever they are', () => {
    const zeros = '0'.repeat(1_000_000);

    const results = [
      `1${zeros}1`,
      `1${zeros}.${zeros}1`,
      `1.${zeros}`,
      `1.${zeros}1`,
      `1e${zeros}1`,
      `1${zeros}x`,
      `1.${zeros}x`,
    ].map((text) => isIntegerLiteral(text));

    // A quadratic scan would take minutes and run into the test's time limit.
    expect(results).toEqual([true, false, true, false, true, false, false]);
  });
});
