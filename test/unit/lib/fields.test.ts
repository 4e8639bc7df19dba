import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FieldSchema } from '../../../conformance/a-book.ts';
import { isWithin } from '../../../conformance/field-values.ts';
import { isValueOf, type Kind, kinds, type LimitsOf, type Schema, type ValueOf } from '../../../lib/fields.ts';
import { anyText } from '../../support/any-text.ts';

/** Few of them, so that values meet limits. */
const shortText = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'é', '\u0301', '📚'), maxLength: 5 }), anyText);
const integer = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.maxSafeInteger());

type SchemaOf<Of extends Kind> = LimitsOf<Of> & { readonly enum?: readonly ValueOf<Of>[] };

/** Draws each limit of each kind. */
const anyLimitsOf: {
  readonly [Of in Kind]: { readonly [Name in keyof SchemaOf<Of>]-?: fc.Arbitrary<SchemaOf<Of>[Name]> };
} = {
  string: { maxLength: fc.nat({ max: 6 }), enum: fc.array(shortText, { minLength: 1, maxLength: 3 }) },
  integer: { minimum: integer, maximum: integer, enum: fc.array(integer, { minLength: 1, maxLength: 3 }) },
  boolean: { enum: fc.constant([true]) },
};

const anyValueOf: { readonly [Of in Kind]: fc.Arbitrary<unknown> } = {
  string: shortText,
  integer: fc.oneof(integer, fc.constantFrom(2 ** 53 - 1, 1 - 2 ** 53)),
  boolean: fc.boolean(),
};
const anyValue = fc.oneof(...Object.values(anyValueOf), fc.string({ unit: 'binary' }), fc.double(), fc.jsonValue());

/** Most values are of the field's kind, so that its limits decide. */
const anyCase = fc.oneof(
  ...(Object.keys(anyLimitsOf) as Kind[]).map((kind) =>
    fc.tuple(
      fc.record<Schema>({ type: fc.constant(kind), ...anyLimitsOf[kind] }, { requiredKeys: ['type'] }),
      fc.oneof({ weight: 4, arbitrary: anyValueOf[kind] }, anyValue),
    ),
  ),
);

const atLimits: [Schema, unknown][] = [
  [{ type: 'string', maxLength: 2 }, '📚📚'],
  [{ type: 'string', maxLength: 2 }, 'aaa'],
  [{ type: 'string', maxLength: 2 }, 'aaaaa'],
  [{ type: 'string' }, '\ud800'],
  // Three code points that are shown as one character.
  [{ type: 'string', maxLength: 2 }, 'e\u0301\u0301'],
  [{ type: 'string', enum: ['a'] }, 'A'],
  [{ type: 'integer', minimum: 1, maximum: 1 }, 1],
  [{ type: 'integer', minimum: 1 }, 0],
  [{ type: 'integer', maximum: 1 }, 2],
  [{ type: 'integer' }, 2 ** 53],
  [{ type: 'integer' }, -0],
  [{ type: 'integer' }, '1'],
];

test('any value is allowed exactly if JSON Schema allows it, a text is well-formed, and an integer is a safe one', () => {
  const ajv = new Ajv2020({ strict: false, addUsedSchema: false });

  fc.assert(
    fc.property(anyCase, ([field, given]) => {
      const isWellFormed = typeof given !== 'string' || given.isWellFormed();
      const isSafe = field.type !== 'integer' || Number.isSafeInteger(given);
      const expected = ajv.compile(field)(given) && isWellFormed && isSafe;
      expect(isValueOf(field, given)).toBe(expected);
      // The suite has a check of its own, because it knows a service by HTTP alone.
      if (kinds[field.type](given)) expect(isWithin({ ...field, default: '' } as FieldSchema, given)).toBe(expected);
    }),
    { numRuns: 300, examples: atLimits.map((each) => [each]) },
  );
});
