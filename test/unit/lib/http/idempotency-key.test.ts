import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readIdempotencyKey, replayedHeader } from '../../../../lib/http/idempotency-key.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const name = 'idempotency-key';
const read = (...values: string[]) =>
  readIdempotencyKey(
    createEvent({ headers: { [name]: values.at(-1) ?? '' }, multiValueHeaders: { [name]: values } }),
  );

test('any 1 to 255 visible ASCII characters are taken as they are', () => {
  const unit = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 255 }), (text) => {
      expect(read(text)).toBe(text);
    }),
  );
});

test.each(['!', '~', '"quoted"', 'a,b', 'x'.repeat(255), '__proto__'])('%j is a key', (key) => {
  expect(read(key)).toBe(key);
});

test.each([
  ...['', ' ', 'a b', 'a, b', ' a', 'a ', 'a\t', 'a\n', '\0', '\x7f', 'é', '鍵', 'x'.repeat(256)].map(
    (key) => [key],
  ),
  ['a', 'b'],
  ['a', 'a'],
  ['a', ''],
])('%j is no key', (...values) => {
  expect(() => read(...values)).toThrow('Invalid idempotency key');
});

test('a request without the header has none, and one without multiValueHeaders may have one', () => {
  expect(readIdempotencyKey(createEvent())).toBeUndefined();
  expect(
    readIdempotencyKey(createEvent({ headers: null, multiValueHeaders: null } as never)),
  ).toBeUndefined();
  const event = createEvent({ headers: { [name]: 'a' }, multiValueHeaders: null } as never);
  expect(readIdempotencyKey(event)).toBe('a');
});

test('only a replay has the header that says so', () => {
  expect(replayedHeader(true)).toEqual({ 'Idempotency-Replayed': 'true' });
  expect(replayedHeader(false)).toEqual({});
});
