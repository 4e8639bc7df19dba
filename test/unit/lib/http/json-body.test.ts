import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { loginFields } from '../../../../lib/auth/credentials.ts';
import { type EncodedBody, isIntegerLiteral, readFields, readJsonObject } from '../../../../lib/http/json-body.ts';
import { fragmentText } from '../../../support/any-text.ts';

const plain = (body: string) => ({ body, isBase64Encoded: false });
const read = (encoded: EncodedBody) => readJsonObject(encoded, ['a', 'b']);
const base64 = (body: string) => ({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true });

test('an absent body is not an object; base64 is not read as text, nor text as base64', () => {
  expect(read({ body: null, isBase64Encoded: true })).toBeUndefined();
  expect(read({ body: null, isBase64Encoded: false })).toBeUndefined();
  expect(read(plain(base64('{"a":1}').body))).toBeUndefined();
  expect(read({ body: '{"a":1}', isBase64Encoded: true })).toBeUndefined();
  expect(read(base64('{"a":1}'))).toEqual({ a: 1 });
});

test('a byte order mark is not JSON, in base64 either', () => {
  expect(read(plain('\ufeff{}'))).toBeUndefined();
  expect(read(base64('\ufeff{}'))).toBeUndefined();
});

test('JSON.parse is called again only for an integer, and never with a reviver, which takes several times the CPU time', () => {
  const parse = vi.spyOn(JSON, 'parse');

  expect(read(plain('{"a":1e-400,"other":[1.5]}'))).toEqual({ a: 0.5, other: [1.5] });
  expect(parse.mock.calls.map((parameters) => parameters.length)).toEqual([1, 1]);

  parse.mockClear();
  expect(readFields(plain('{"username":1,"password":2,"other":1.5}'), loginFields)).toBeUndefined();
  expect(parse).toHaveBeenCalledOnce();
});

test('of any object, the named members are those that JSON.parse finds, and 0.5 where it rounded to an integer', () => {
  const names = ['a', 'year', '__proto__', ''];
  const toEscapes = (text: string) => text.replace(/./g, (at) => `\\u00${at.charCodeAt(0).toString(16)}`);
  const key = fc.oneof(
    fc.constantFrom(...names).map((name) => `"${name}"`),
    fc.constantFrom(...names).map((name) => `"${toEscapes(name)}"`),
    // V8 of Node 24.21 confuses a name that begins with an escape with the name of one backslash, if an object had that before.
    fragmentText.filter((text) => text !== '\\').map((text) => JSON.stringify(text)),
  );
  const literal = fc.constantFrom(
    ...['0', '-0', '7', '2020.0', '2.02e3', '-1E+2', '1.5', '1e400', 'null'],
    ...['2020.00000000000000000001', '1e-400', '-1e-400'],
    ...['"1e-400"', String.raw`"\"a\":1e-400"`],
  );
  const string = fc.oneof(
    fragmentText.map((text) => JSON.stringify(text)),
    fc
      .string({ unit: fc.constantFrom('\\\\', '\\"', '"a":1e-400,', '{', '}', '[', ']', ':') })
      .map((text) => JSON.stringify(text)),
    fc.string({ unit: fc.constantFrom('\\\\', '\\"', '\\u0022', '{', '}', '[', ':') }).map((text) => `"${text}"`),
  );
  const space = fc.constantFrom('', ' ', '\n\t');
  const { object } = fc.letrec<Record<'object' | 'array' | 'value', string>>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, literal, string, tie('object'), tie('array')),
    array: fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values}]`),
    object: fc
      .array(fc.tuple(space, key, space, tie('value')), { maxLength: 4 })
      .map(
        (members) =>
          `{${members.map(([before, name, around, value]) => `${before}${name}${around}:${around}${value}`)}}`,
      ),
  }));
  // It is called for every value, with the literal of a number.
  const reviver = (_name: string, value: unknown, { source = '' } = {}) =>
    Number.isInteger(value) && !isIntegerLiteral(source) ? Number(source.replace(/[^-].*/, '0.5')) : value;

  fc.assert(
    fc.property(object, (text) => {
      const expected: object = JSON.parse(text, reviver);
      const found = readJsonObject(plain(text), names);

      const valuesIn = (from: object) => {
        const members = names.map((name) => Object.getOwnPropertyDescriptor(from, name)?.value);
        return members.map((value) => (typeof value === 'object' ? 'object' : value));
      };
      expect(valuesIn(found ?? {}), text).toEqual(valuesIn(expected));
    }),
    { numRuns: 3_000 },
  );
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

const noNumbers = ['', ' 1', '1\n', '+1', '.5', '5.', '1e', 'e1', '0x10', '1n', '1_000', 'NaN', '"1"', '١'];
test.each(noNumbers)('%j is not a number literal', (text) => {
  expect(isIntegerLiteral(text)).toBe(false);
});

test('exponents of any size and megabytes of zeros are read in linear time', () => {
  const huge = '9'.repeat(21);
  const zeros = '0'.repeat(1_000_000);
  const integers = [`0e-${huge}`, `1e${huge}`, `1${zeros}1`, `1.${zeros}`, `1e${zeros}1`];
  const others = [`1e-${huge}`, `1${zeros}.${zeros}1`, `1.${zeros}1`, `1${zeros}x`, `1.${zeros}x`];

  expect(integers.map(isIntegerLiteral)).toEqual(Array(5).fill(true));
  expect(others.map(isIntegerLiteral)).toEqual(Array(5).fill(false));
});

test.each([
  ['an array nested deeper than the stack', `{"a":1,"b":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, true],
  ['quotation marks that end no string', `{"a":1,"b":"${'\\"'.repeat(2_000_000)}`, false],
  ['a string of escaped quotation marks', `{"a":1,"b":"${'\\"'.repeat(2_000_000)}"}`, true],
  ['a string of escaped backslashes', `{"a":1,"b":"${'\\\\'.repeat(2_000_000)}"}`, true],
  ['a string', `{"a":1,"b":"${'x'.repeat(9_900_000)}"}`, true],
  ['an integer', `{"a":1,"b":${'1'.repeat(9_900_000)}}`, true],
  ['opening braces', '{"a":'.repeat(300_000), false],
])('%s takes no time to speak of', (_name, text, isObject) => {
  expect(read(plain(text)) !== undefined).toBe(isObject);
});
