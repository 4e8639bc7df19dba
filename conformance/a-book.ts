import { getOperation } from './contract/description.ts';
import { isWithin, type Limits } from './field-values.ts';

/** The fields that cases name; openapi.yaml may have more. */
export interface BookFields {
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

export type Value = string | number | boolean;

/** A field as openapi.yaml describes it. Each integer without an `enum` has both bounds. */
export interface FieldSchema extends Limits {
  readonly type: string;
  readonly default: Value;
  readonly enum?: readonly Value[];
}

const { bodySchema } = getOperation('POST /book');
const { properties } = bodySchema as { readonly properties: Readonly<Record<string, FieldSchema>> };

/** The fields of a book in openapi.yaml. */
export const fieldSchemas = Object.entries(properties);

/** Whether openapi.yaml allows these values. Its limits may be newer than a case. */
export function allows(fields: object): boolean {
  return fieldSchemas.every(
    ([name, schema]) => !Object.hasOwn(fields, name) || isWithin(schema, fields[name as keyof typeof fields]),
  );
}

const defaults = Object.fromEntries(fieldSchemas.map(([name, schema]) => [name, schema.default]));

/** A member that no body has. */
export const unknownField = 'notAField';

/** Makes the fields of a book: the given ones, and the defaults of all others. */
export function aBook(fields: object = {}): BookFields {
  return { ...(defaults as object as BookFields), ...fields };
}
