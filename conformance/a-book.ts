import { getOperation } from './contract/description.ts';

/** The fields that cases name; openapi.yaml may have more. */
export interface BookFields {
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

type Value = string | number | boolean;

/** A field as JSON Schema describes it. */
interface FieldSchema {
  readonly type: string;
  readonly default: Value;
  readonly maximum?: number;
}

const { bodySchema } = getOperation('POST /book');
const { properties } = bodySchema as { readonly properties: Readonly<Record<string, FieldSchema>> };

/** The fields of a book in openapi.yaml. */
export const fieldSchemas = Object.entries(properties);

const defaults = Object.fromEntries(fieldSchemas.map(([name, schema]) => [name, schema.default]));

/** A member that no body has. */
export const unknownField = 'notAField';

/** Makes the fields of a book: the given ones, and the defaults of all others. */
export function aBook(fields: object = {}): BookFields {
  return { ...(defaults as object as BookFields), ...fields };
}

/** {@link makeValues} for each kind of field. */
const valuesOfKind: Readonly<Record<string, (schema: FieldSchema) => readonly [Value, Value]>> = {
  string: () => ['a', 'b'],
  integer: ({ maximum = 0 }) => [maximum, maximum - 1],
  boolean: (schema) => [!schema.default, schema.default],
};

/** Makes two different values of a field. The first is not its default. */
export function makeValues(schema: FieldSchema): readonly [Value, Value] {
  const make = valuesOfKind[schema.type];
  if (make === undefined) throw new Error(`conformance/a-book.ts has no values of the type ${schema.type}`);
  return make(schema);
}
