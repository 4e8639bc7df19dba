import { isValueOf, type Schema } from '../fields.ts';

/** The parameters of paths and query strings, in the words of JSON Schema. openapi.yaml is generated from them. */
export const urlParameters = {
  id: { type: 'integer', minimum: 1 },
  // The ids of a page are held in memory, and a client reads a large catalog in few requests.
  limit: { type: 'integer', minimum: 1, maximum: 1000 },
  after: { type: 'integer', minimum: 0, default: 0 },
} as const;

/** Decimal digits without sign and leading zero. */
const canonicalUnsignedInteger = /^(?:0|[1-9][0-9]*)$/;

/** Parses the text of a parameter. @returns `undefined` when it is missing, malformed or out of bounds */
export function parseUrlParameter(schema: Schema, text: string | undefined): number | undefined {
  const value = canonicalUnsignedInteger.test(String(text)) ? Number(text) : Number.NaN;
  return isValueOf(schema, value) ? value : undefined;
}
