import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isIntegerLiteral, readJsonObject } from '../../../../lib/http/json-body.ts';

const plain = (body: string) => ({ body, isBase64Encoded: false });
const base64 = (body: string) => ({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true });

test('an absent body is not an object; base64 is not read as text, nor text as base64', () => {
  expect(readJsonObject({ body: null, isBase64Encoded: true })).toBeUndefined();
  expect(readJsonObject({ body: null, isBase64Encoded: false })).toBeUndefined();
  expect(readJsonObject(plain(base64('{"a":1}').body))).toBeUndefined();
  expect(readJsonObject({ body: '{"a":1}', isBase64Encoded: true })).toBeUndefined();
});

test.each([
  ['an array nested deeper than the stack', `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)},"b":1e-400}`, false],
  ['an array as deep without a fraction', `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, true],
  ['quotation marks that end no string', `{"a":1e-400,"b":"${'\\"'.repeat(2_000_000)}`, false],
  ['a string of escaped quotation marks', `{"a":1e-400,"b":"${'\\"'.repeat(2_000_000)}"}`, true],
  ['a string', `{"a":1e-400,"b":"${'x'.repeat(9_900_000)}"}`, true],
  ['as many fractions of zeros', `{"a":[${'1.000000000000000000,'.repeat(300_000)}1]}`, true],
  ['opening braces', '{"a":'.repeat(300_000), false],
  ['numbers in a string', `{"b":"${'1e-400 '.repeat(500_000)}","a":1e-400}`, true],
])('%s takes no time to speak of', (_name, text, isObject) => {
  expect(readJsonObject(plain(text)) !== undefined).toBe(isObject);
});

test('any literal is an integer exactly if its fraction in exact arithmetic has denominator 1', () => {
  // Any digits, or mostly zeros, where the digits decide.
  const digits = fc.stringMatching(/^([0-9]{1,30}|0{0,20}[0-9]0{0,20}[0-9]?)$/);
  const exponents = fc.integer({ min: -60, max: 60 });
  fc.assert(
    fc.property(digits, fc.oneof(digits, fc.constant('')), exponents, (whole, fraction, exponent) => {
      const integer = whole.replace(/^0+(?=\d)/, '');
      const text = `-${integer}${fraction && `.${fraction}`}${exponent === 0 ? '' : `e${exponent}`}`;

      // The value is numerator / 10 ** power.
      const numerator = BigInt(integer + fraction);
      const power = fraction.length - exponent;
      const expected = power <= 0 || numerator % 10n ** BigInt(power) === 0n;
      expect(isIntegerLiteral(text), text).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});

test('exponents of any size and megabytes of zeros are read in linear time', () => {
  const huge = '9'.repeat(21);
  const zeros = '0'.repeat(1_000_000);
  const integers = [`0e-${huge}`, `1e${huge}`, `1${zeros}1`, `1.${zeros}`, `1e${zeros}1`];
  const others = [`1e-${huge}`, `1${zeros}.${zeros}1`, `1.${zeros}1`, `1${zeros}x`, `1.${zeros}x`];

  expect(integers.map(isIntegerLiteral)).toEqual(Array(5).fill(true));
  expect(others.map(isIntegerLiteral)).toEqual(Array(5).fill(false));
});

const noNumbers = ['', ' 1', '1\n', '+1', '.5', '5.', '1e', 'e1', '0x10', '1n', '1_000', 'NaN', '"1"', '١'];
test.each(noNumbers)('%j is not a number literal', (text) => {
  expect(isIntegerLiteral(text)).toBe(false);
});
