import { getOperation } from './contract/description.ts';

/** The fields that cases name; openapi.yaml may have more. */
export interface BookFields {
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

export type Value = string | number | boolean;

/** A field as openapi.yaml describes it. Each integer without an `enum` has both bounds. */
export interface FieldSchema {
  readonly type: string;
  readonly default: Value;
  readonly enum?: readonly Value[];
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const { bodySchema } = getOperation('POST /book');
const { properties } = bodySchema as { readonly properties: Readonly<Record<string, FieldSchema>> };

/** The fields of a book in openapi.yaml. */
export const fieldSchemas = Object.entries(properties);

/** Whether openapi.yaml allows these values. Its limits may be newer than a case. */
export function allows(fields: object): boolean {
  const schemas = Object.fromEntries(fieldSchemas);
  return Object.entries(fields).every(([name, value]) => {
    const { maxLength = Infinity, minimum = -Infinity, maximum = Infinity } = schemas[name] ?? {};
    if (typeof value === 'string') return value.length <= maxLength || [...value].length <= maxLength;
    return !(value < minimum || value > maximum);
  });
}

const defaults = Object.fromEntries(fieldSchemas.map(([name, schema]) => [name, schema.default]));

/** A member that no body has. */
export const unknownField = 'notAField';

/** Makes the fields of a book: the given ones, and the defaults of all others. */
export function aBook(fields: object = {}): BookFields {
  return { ...(defaults as object as BookFields), ...fields };
}
