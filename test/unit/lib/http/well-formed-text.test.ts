import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isText } from '../../../../lib/http/well-formed-text.ts';
import { anyText, loneSurrogate } from '../../../support/any-text.ts';

describe('isText', () => {
  test('any string is text exactly if it survives UTF-8 unaltered', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(anyText, loneSurrogate) }), (text) => {
        expect(isText(text)).toBe(Buffer.from(text, 'utf8').toString('utf8') === text);
      }),
    );
  });

  test('any value that is no string is no text', () => {
    fc.assert(
      fc.property(
        fc.anything().filter((value) => typeof value !== 'string'),
        (value) => {
          expect(isText(value)).toBe(false);
        },
      ),
    );
  });

  test('a string object is no text, as it is no JSON string', () => {
    expect(isText(new String('Emma'))).toBe(false);
  });
});
