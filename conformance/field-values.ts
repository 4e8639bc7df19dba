import type { FieldSchema, Value } from './a-book.ts';

/** Values of a field, and JSON of its type that is beyond its limits. */
interface EdgeValues {
  readonly within: readonly Value[];
  readonly beyond: readonly string[];
}

/** The size of an item limits texts as well (rule 2.8), and cases about that send larger ones. */
const maxTextBytes = 300_000;

/** A limit of JSON Schema, with values at its edge. */
interface Limit extends EdgeValues {
  readonly allows: (value: Value) => boolean;
}

/** The limits that a field can have. */
const limits = {
  maxLength: (maxLength: number): Limit => ({
    allows: (text) => `${text}`.length <= maxLength || [...`${text}`].length <= maxLength,
    within: ['x'.repeat(maxLength), '📚'.repeat(maxLength)].filter((text) => Buffer.byteLength(text) <= maxTextBytes),
    // A code point beyond U+FFFF has four bytes in UTF-8, and two units in UTF-16. The last text is one letter to the eye.
    beyond: ['x'.repeat(maxLength + 1), '📚'.repeat(maxLength + 1), `e${'\u0301'.repeat(maxLength)}`].map((text) =>
      JSON.stringify(text),
    ),
  }),
  // One more and one less may be beyond the precision of JavaScript's numbers.
  minimum: (minimum: number): Limit => ({
    allows: (value) => Number(value) >= minimum,
    within: [minimum],
    beyond: [`${BigInt(minimum) - 1n}`],
  }),
  maximum: (maximum: number): Limit => ({
    allows: (value) => Number(value) <= maximum,
    within: [maximum],
    beyond: [`${BigInt(maximum) + 1n}`],
  }),
};

/** The limits of a field, by their names in JSON Schema. */
export type Limits = { readonly [Name in keyof typeof limits]?: Parameters<(typeof limits)[Name]>[0] };

/** Values of each kind of field, which a limit may refuse. */
const valuesOfKind: Readonly<Record<string, readonly Value[]>> = {
  string: ['a', 'b', ''],
  integer: [],
  boolean: [true, false],
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
  const values = valuesOfKind[type];
  if (values === undefined) throw new Error(`conformance/field-values.ts has no values of the type ${type}`);
  const ofField = limitsOf(schema);
  return {
    within: [...values, ...ofField.flatMap(({ within }) => within)].filter((value) => isWithin(schema, value)),
    beyond: ofField.flatMap(({ beyond }) => beyond),
  };
}

/** Whether a field allows a value of its kind. */
export function isWithin(schema: FieldSchema, value: Value): boolean {
  return schema.enum?.includes(value) !== false && limitsOf(schema).every(({ allows }) => allows(value));
}

const limitsOf = (schema: FieldSchema) =>
  Object.entries(limits).flatMap(([name, makeLimit]) =>
    name in schema ? makeLimit(schema[name as keyof Limits] as never) : [],
  );

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
