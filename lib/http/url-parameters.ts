import { isValueOf, type Kind, type Schema, type ValueOf } from '../fields.ts';

/** The parameters of paths and query strings, in the words of JSON Schema. openapi.yaml is generated from them. */
export const urlParameters = {
  id: { type: 'integer', minimum: 1 },
  // A page is held in memory, and a client reads a large catalog in few requests.
  limit: { type: 'integer', minimum: 1, maximum: 1000 },
  after: { type: 'integer', minimum: 0, default: 0 },
  q: { type: 'string' },
} as const;

/** Decimal digits without a plus sign and leading zeros. */
const canonicalInteger = /^(?:0|-?[1-9][0-9]*)$/;

/** How the text of a parameter is read, by the kind of its value. */
const parsers: Readonly<Record<Kind, (text: string | undefined) => unknown>> = {
  string: (text) => text,
  integer: (text) => (canonicalInteger.test(`${text}`) ? Number(text) : undefined),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

/** Parses the text of a parameter. @returns `undefined` when it is missing, malformed or out of bounds */
export function parseUrlParameter<Of extends Kind>(
  schema: Schema & { readonly type: Of },
  text: string | undefined,
): ValueOf<Of> | undefined {
  const value = parsers[schema.type](text);
  return isValueOf(schema, value) ? (value as ValueOf<Of>) : undefined;
}
