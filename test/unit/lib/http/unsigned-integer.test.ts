import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseUnsignedInteger } from '../../../../lib/http/unsigned-integer.ts';

test('any unsigned safe integer is read as it was written', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      expect(parseUnsignedInteger(String(value))).toBe(value);
    }),
  );
});

test.each([0, 1, 9, 10, 9_999_999_999_999, Number.MAX_SAFE_INTEGER])('%d', (value) => {
  expect(parseUnsignedInteger(String(value))).toBe(value);
});

test.each([
  undefined,
  '',
  ' ',
  '-1',
  '-0',
  '+1',
  '00',
  '01',
  '1.0',
  '1e3',
  '0x1',
  '1n',
  '1_0',
  ' 1',
  '1\n',
  '١',
  'NaN',
  'Infinity',
  '9007199254740992',
  '9007199254740993',
  '9999999999999999',
  '10000000000000000',
  '1'.repeat(1_000),
])('%j is no unsigned integer', (text) => {
  expect(parseUnsignedInteger(text)).toBeUndefined();
});
