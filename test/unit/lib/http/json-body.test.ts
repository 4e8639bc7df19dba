import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EncodedBody, readJsonObject } from '../../../../lib/http/json-body.ts';
import { anyText } from '../../../support/any-text.ts';

const plain = (body: string): EncodedBody => ({ body, isBase64Encoded: false });
const base64 = (bytes: Uint8Array | string): EncodedBody => ({
  body: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});

/** UTF-8 carries no lone surrogates, so the texts in here have none. */
const jsonObject = fc.dictionary(
  anyText,
  fc.object({
    key: anyText,
    values: [
      anyText,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ],
    maxDepth: 2,
  }),
);

describe('readJsonObject', () => {
  test('any JSON object comes back as it was written, plain or in base64', () => {
    fc.assert(
      fc.property(jsonObject, fc.constantFrom(0, 2, '\t'), (object, indent) => {
        const text = JSON.stringify(object, null, indent);

        expect(readJsonObject(plain(text))).toEqual(JSON.parse(text));
        expect(readJsonObject(base64(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('arbitrary text never throws and gives an object only where JSON.parse does', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.json()), (text) => {
        const result = readJsonObject(plain(text));

        expect(result !== undefined).toBe(isObjectText(text));
      }),
    );
  });

  test('arbitrary bytes in base64 never throw and give an object only where they are UTF-8 of one', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      // Bytes that are an object but for a few of them get further than noise does.
      fc
        .tuple(jsonObject, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3 }))
        .map(([object, position, patch]) => {
          const encoded = Buffer.from(JSON.stringify(object));
          encoded.set(patch.subarray(0, encoded.length), position % Math.max(1, encoded.length - 3));
          return encoded;
        }),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        const result = readJsonObject(base64(body));

        const text = Buffer.from(body).toString('utf8');
        const isUtf8 = Buffer.from(text, 'utf8').equals(Buffer.from(body));
        expect(result !== undefined).toBe(isUtf8 && isObjectText(text));
      }),
    );
  });

  test('arbitrary text that claims to be base64 never throws', () => {
    fc.assert(
      fc.property(anyText, (body) => {
        const result = readJsonObject({ body, isBase64Encoded: true });

        expect(['undefined', 'object']).toContain(typeof result);
      }),
    );
  });

  test('a body in base64 is not read as plain text, nor the other way round', () => {
    const text = '{"title":"Emma"}';
    const encoded = base64(text).body ?? '';

    expect(readJsonObject(plain(encoded))).toBeUndefined();
    expect(readJsonObject({ body: text, isBase64Encoded: true })).toBeUndefined();
  });

  test.each([
    ['a truncated sequence', [0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]],
    ['an overlong slash', [0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]],
    ['a surrogate', [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]],
    ['a byte that UTF-8 never uses', [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]],
  ])('an object whose key is %s and so not UTF-8 is refused', (_name, bytes) => {
    expect(readJsonObject(base64(Uint8Array.from(bytes)))).toBeUndefined();
  });

  test('an object in UTF-16 is refused', () => {
    expect(readJsonObject(base64(Buffer.from('{"title":"Emma"}', 'utf16le')))).toBeUndefined();
  });

  test('a byte order mark before the object is refused in both encodings', () => {
    const text = '\uFEFF{"title":"Emma"}';

    expect(readJsonObject(plain(text))).toBeUndefined();
    expect(readJsonObject(base64(text))).toBeUndefined();
  });

  test.each(['[]', '[{}]', '"x"', '1', 'null', 'true', '', ' ', '{', '{}{}', "{'a':1}", '{"a":1,}', 'NaN'])(
    '%j is no JSON object and is refused in both encodings',
    (text) => {
      expect(readJsonObject(plain(text))).toBeUndefined();
      expect(readJsonObject(base64(text))).toBeUndefined();
    },
  );

  test.each([true, false])('an absent body is refused (isBase64Encoded: %s)', (isBase64Encoded) => {
    expect(readJsonObject({ body: null, isBase64Encoded })).toBeUndefined();
  });

  test('whitespace around the object is JSON and makes no difference', () => {
    expect(readJsonObject(plain('\r\n\t {"a":1} \n'))).toEqual({ a: 1 });
  });

  test.each([
    ['2020.00000000000000000001', 0.5],
    ['9007199254740990.9999999', 0.5],
    ['1e-400', 0.5],
    ['-1e-400', -0.5],
    ['2020.0', 2020],
    ['2.02e3', 2020],
    ['-0', -0],
    ['1.5', 1.5],
    ['1e400', Number.POSITIVE_INFINITY],
  ])('the number %s is read as %s', (literal, expected) => {
    expect(readJsonObject(plain(`{"year":${literal}}`))?.year).toBe(expected);
  });

  test('of a member that is there twice the last one counts, rounded or not', () => {
    expect(readJsonObject(plain('{"a":1.00000000000000000000001,"a":2}'))).toEqual({ a: 2 });
    expect(readJsonObject(plain('{"a":2,"a":1.00000000000000000000001}'))).toEqual({ a: 0.5 });
    expect(readJsonObject(plain('{"a":{"b":1},"a":2020}'))).toEqual({ a: 2020 });
    expect(readJsonObject(plain('{"a":[1,2],"a":[3.0]}'))).toEqual({ a: [3] });
  });

  test('a member called __proto__ stays a member and reaches no prototype', () => {
    const result = readJsonObject(plain('{"__proto__":{"title":"polluted"}}'));

    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(Object.hasOwn(result ?? {}, '__proto__')).toBe(true);
    expect('title' in (result ?? {})).toBe(false);
    expect('title' in {}).toBe(false);
  });

  test.each(['', ',"b":1e-400'])(
    'an array nested deeper than the stack is read like any other (%s)',
    (other) => {
      const depth = 1_000_000;

      const object = readJsonObject(plain(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}${other}}`));

      expect(Array.isArray(object?.a)).toBe(true);
    },
  );

  test.each([
    ['quotation marks that end no string', `{"a":1e-400,"b":"${'\\"'.repeat(2_000_000)}`, false],
    ['a string of escaped quotation marks', `{"a":1e-400,"b":"${'\\"'.repeat(2_000_000)}"}`, true],
    ['a string', `{"a":1e-400,"b":"${'x'.repeat(9_900_000)}"}`, true],
    ['a string of escapes', `{"a":1e-400,"b":"${'\\n'.repeat(4_900_000)}"}`, true],
    ['numbers in a string', `{"b":"${'1e-400 '.repeat(500_000)}","a":1e-400}`, true],
  ])('%s of megabytes take no time to speak of', (_name, text, isObject) => {
    expect(readJsonObject(plain(text)) !== undefined).toBe(isObject);
  });

  test.each([
    '{"b":"\\\\","a":1e-400}',
    '{"b":"\\"","a":1e-400}',
    '{"b":"\\\\\\"1","a":1e-400,"c":"\\\\"}',
    '{"1e-400":"","a":1e-400}',
  ])('a number behind a string of escapes is none of its text: %s', (text) => {
    expect(readJsonObject(plain(text))?.a).toBe(0.5);
  });

  test('text that is no JSON is none after literals have been replaced', () => {
    const almostNumber = fc.stringMatching(/^[-+.0-9eE]{1,12}$/);
    fc.assert(
      fc.property(almostNumber, fc.constantFrom('"', ''), (literal, quote) => {
        const text = `{"a":${quote}${literal}${quote}}`;

        const object = readJsonObject(plain(text));

        expect(object !== undefined).toBe(isObjectText(text));
        if (quote) expect(object?.a).toBe(literal);
      }),
      { numRuns: 5_000 },
    );
  });
});

function isObjectText(text: string): boolean {
  try {
    return Object.prototype.toString.call(JSON.parse(text)) === '[object Object]';
  } catch {
    return false;
  }
}
