/**
 * The kinds of fields, by their names in JSON Schema. Each is a type guard. It checks a value of JSON, and the type
 * that it proves is the kind's type in TypeScript.
 */
export const kinds = {
  /** Well-formed Unicode. For a lone surrogate (`"\ud800"` in JSON), the database would store U+FFFD. */
  string: (value: unknown): value is string => typeof value === 'string' && value.isWellFormed(),
  /** A whole number between safe integers. */
  integer: (value: unknown): value is number => Number.isSafeInteger(value),
  boolean: (value: unknown): value is boolean => typeof value === 'boolean',
};

export type Kind = keyof typeof kinds;

type ValueOf<Of extends Kind> = (typeof kinds)[Of] extends (value: unknown) => value is infer Value ? Value : never;

/** The bounds of an integer. */
export interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

type FieldOf<Of extends Kind> = { readonly type: Of; readonly default: ValueOf<Of> } & (Of extends 'integer'
  ? Bounds
  : Partial<Record<keyof Bounds, never>>);

/** A field of one of the kinds, in the words of JSON Schema. */
export type Field = { [Of in Kind]: FieldOf<Of> }[Kind];

/** The members of a body by name: openapi.yaml is generated from these tables. */
export type Fields = Readonly<Record<string, Field>>;

/** The values that a table describes. */
export type ValuesOf<Table extends Fields> = {
  -readonly [Name in keyof Table]: ValueOf<Table[Name]['type']>;
};

/** Checks the kind and the bounds of a value. */
export function isValueOf({ type, minimum = -Infinity, maximum = Infinity }: Field, value: unknown): boolean {
  // Negated, so that a text passes, which is NaN as a number.
  return kinds[type](value) && !(Number(value) < minimum || Number(value) > maximum);
}
