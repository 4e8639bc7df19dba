import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Field, isValueOf, type Kind } from '../../../lib/fields.ts';
import { anyText } from '../../support/any-text.ts';

/** Few of them, so that values meet limits. */
const shortText = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'é', '\u0301', '📚'), maxLength: 5 }), anyText);
const integer = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.maxSafeInteger());

const anyFieldOf: { readonly [Of in Kind]: fc.Arbitrary<Extract<Field, { type: Of }>> } = {
  string: fc.record(
    {
      type: fc.constant('string' as const),
      default: fc.constant(''),
      maxLength: fc.nat({ max: 6 }),
      enum: fc.array(shortText, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['type', 'default'] },
  ),
  integer: fc.record(
    {
      type: fc.constant('integer' as const),
      default: fc.constant(0),
      minimum: integer,
      maximum: integer,
      enum: fc.array(integer, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['type', 'default'] },
  ),
  boolean: fc.constant({ type: 'boolean', default: true } as const),
};

const anyValueOf: { readonly [Of in Kind]: fc.Arbitrary<unknown> } = {
  string: shortText,
  integer: fc.oneof(integer, fc.constantFrom(2 ** 53 - 1, 1 - 2 ** 53)),
  boolean: fc.boolean(),
};
const anyValue = fc.oneof(...Object.values(anyValueOf), fc.string({ unit: 'binary' }), fc.double(), fc.jsonValue());

/** Most values are of the field's kind, so that its limits decide. */
const anyCase = fc.oneof(
  ...(Object.keys(anyFieldOf) as Kind[]).map((kind) =>
    fc.tuple<[Field, unknown]>(anyFieldOf[kind], fc.oneof({ weight: 4, arbitrary: anyValueOf[kind] }, anyValue)),
  ),
);

const atLimits: [Field, unknown][] = [
  [{ type: 'string', default: '', maxLength: 2 }, '📚📚'],
  [{ type: 'string', default: '', maxLength: 2 }, 'aaa'],
  [{ type: 'string', default: '', maxLength: 2 }, 'aaaaa'],
  [{ type: 'string', default: '' }, '\ud800'],
  // Three code points that are shown as one character.
  [{ type: 'string', default: '', maxLength: 2 }, 'e\u0301\u0301'],
  [{ type: 'string', default: '', enum: ['a'] }, 'A'],
  [{ type: 'integer', default: 0, minimum: 1, maximum: 1 }, 1],
  [{ type: 'integer', default: 0 }, 2 ** 53],
  [{ type: 'integer', default: 0 }, -0],
  [{ type: 'integer', default: 0 }, '1'],
];

test('any value is allowed exactly if JSON Schema allows it, a text is well-formed, and an integer is a safe one', () => {
  const ajv = new Ajv2020({ strict: false, addUsedSchema: false });

  fc.assert(
    fc.property(anyCase, ([field, given]) => {
      const isWellFormed = typeof given !== 'string' || given.isWellFormed();
      const isSafe = field.type !== 'integer' || Number.isSafeInteger(given);
      const expected = ajv.compile(field)(given) && isWellFormed && isSafe;
      expect(isValueOf(field, given)).toBe(expected);
    }),
    { numRuns: 300, examples: atLimits.map((each) => [each]) },
  );
});
