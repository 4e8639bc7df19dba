import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readIdempotencyKey } from '../../../../lib/http/idempotency-key.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const name = 'idempotency-key';

test('any 1 to 255 visible ASCII characters are taken as they are', () => {
  const unit = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 255 }), (text) => {
      expect(readIdempotencyKey(createEvent({ multiValueHeaders: { [name]: [text] } }))).toBe(text);
    }),
  );
});

test('a request without the header has none, and one without multiValueHeaders may have one', () => {
  expect(readIdempotencyKey(createEvent())).toBeUndefined();
  expect(
    readIdempotencyKey(createEvent({ headers: null, multiValueHeaders: null } as never)),
  ).toBeUndefined();
  const event = createEvent({ headers: { [name]: 'a' }, multiValueHeaders: null } as never);
  expect(readIdempotencyKey(event)).toBe('a');
});
