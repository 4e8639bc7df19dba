import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readIdempotencyKey, replayedHeader } from '../../../../lib/http/idempotency-key.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const name = 'idempotency-key';
const read = (...values: string[]) =>
  readIdempotencyKey(
    createEvent({ headers: { [name]: values.at(-1) ?? '' }, multiValueHeaders: { [name]: values } }),
  );

describe('readIdempotencyKey', () => {
  test('any 1 to 255 visible ASCII characters are taken as they are', () => {
    const key = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    });

    fc.assert(
      fc.property(key, (text) => {
        expect(read(text)).toBe(text);
      }),
    );
  });

  test.each(['!', '~', '"quoted"', 'a,b', 'x'.repeat(255), '__proto__'])('%j is a key', (key) => {
    expect(read(key)).toBe(key);
  });

  test.each(['', ' ', 'a b', 'a, b', ' a', 'a ', 'a\t', 'a\n', '\0', '\x7f', 'é', '鍵', 'x'.repeat(256)])(
    '%j is no key',
    (key) => {
      expect(() => read(key)).toThrow('Invalid idempotency key');
    },
  );

  test.each([
    ['two keys', ['a', 'b']],
    ['the same key twice', ['a', 'a']],
    ['a key and nothing', ['a', '']],
  ])('%s are no key', (_name, values) => {
    expect(() => read(...values)).toThrow('Invalid idempotency key');
  });

  test('a request without the header has none', () => {
    expect(readIdempotencyKey(createEvent())).toBeUndefined();
    expect(
      readIdempotencyKey(createEvent({ headers: null, multiValueHeaders: null } as never)),
    ).toBeUndefined();
  });

  test('an event without multiValueHeaders', () => {
    const event = createEvent({ headers: { [name]: 'a' }, multiValueHeaders: null } as never);

    expect(readIdempotencyKey(event)).toBe('a');
  });
});

test('only a replay has the header that says so', () => {
  expect(replayedHeader(true)).toEqual({ 'Idempotency-Replayed': 'true' });
  expect(replayedHeader(false)).toEqual({});
});
