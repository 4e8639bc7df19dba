import type { FieldSchema, Value } from './a-book.ts';

/** Values of a field, and JSON of its type that is beyond its limits. */
interface EdgeValues {
  readonly within: readonly Value[];
  readonly beyond: readonly string[];
}

/** The size of an item limits texts as well (rule 2.8), and cases about that send larger ones. */
const maxTextBytes = 300_000;

/** {@link makeEdgeValues} for each kind of field without a list of values. */
const edgesOfKind: Readonly<Record<string, (schema: FieldSchema) => EdgeValues>> = {
  string: ({ maxLength: most }) => {
    if (most === undefined) return { within: ['a', 'b', ''], beyond: [] };
    // A code point beyond U+FFFF has four bytes in UTF-8, and two units in UTF-16. The last text is one letter to the eye.
    const texts = ['x'.repeat(most + 1), '📚'.repeat(most + 1), `e${'\u0301'.repeat(most)}`];
    return {
      within: ['a', 'x'.repeat(most), '📚'.repeat(most), ''].filter((text) => Buffer.byteLength(text) <= maxTextBytes),
      beyond: texts.map((text) => JSON.stringify(text)),
    };
  },
  integer: ({ minimum = Number.NaN, maximum = Number.NaN }) => ({
    within: [maximum, minimum],
    // Beyond the precision of JavaScript's numbers.
    beyond: [`${BigInt(maximum) + 1n}`, `${BigInt(minimum) - 1n}`],
  }),
  boolean: () => ({ within: [true, false], beyond: [] }),
};

/** Values that are close to those of a list. */
const near: readonly ((value: Value) => Value)[] = [
  (value) => (typeof value === 'string' ? '' : 0),
  (value) => (typeof value === 'string' ? `${value} ` : Number(value) + 1),
  (value) => (typeof value === 'string' ? value.toUpperCase() : Number(value) - 1),
  (value) => (typeof value === 'string' ? value.slice(1) : -Number(value)),
];

/** JSON of each type. Some languages read an array with one text or number as that text or number. */
const json: readonly (readonly [type: string, text: string])[] = [
  ...['""', '"a"', '"1"', '"true"'].map((text) => ['string', text] as const),
  ...['0', '1'].map((text) => ['integer', text] as const),
  ...['false', 'true'].map((text) => ['boolean', text] as const),
  ...['null', '1.5', '[]', '["a"]', '[1]', '[true]', '{}'].map((text) => ['', text] as const),
];

/** Makes the values at the limits of a field, and JSON of its type beyond them. */
export function makeEdgeValues(schema: FieldSchema): EdgeValues {
  const { type, enum: allowed } = schema;
  if (allowed !== undefined) {
    const others = allowed
      .flatMap((value) => near.map((make) => make(value)))
      .filter((each) => !allowed.includes(each));
    return { within: allowed, beyond: [...new Set(others)].map((each) => JSON.stringify(each)) };
  }
  const make = edgesOfKind[type];
  if (make === undefined) throw new Error(`conformance/field-values.ts has no values of the type ${type}`);
  return make(schema);
}

/** Makes JSON of all types except that of a field. */
export function makeWrongTypes(schema: FieldSchema): readonly string[] {
  return json.filter(([type]) => type !== schema.type).map(([, text]) => text);
}

/** Makes two different values of a field. The first is not its default. */
export function makeValues(schema: FieldSchema): readonly [Value, Value] {
  const [one, ...others] = makeEdgeValues(schema).within.filter((value) => value !== schema.default);
  if (one === undefined) throw new Error('a field has no value besides its default');
  return [one, others[0] ?? schema.default];
}
