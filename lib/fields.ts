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

export type ValueOf<Of extends Kind> = (typeof kinds)[Of] extends (value: unknown) => value is infer Value
  ? Value
  : never;

/** The kind of a value and its limits, in the words of JSON Schema. */
export interface Schema {
  readonly type: Kind;
  readonly minimum?: number;
  readonly maximum?: number;
  /** In code points. */
  readonly maxLength?: number;
  /** The allowed values. They narrow the type. */
  readonly enum?: readonly unknown[];
}

/** The limits that each kind can have. */
interface LimitsOf {
  readonly string: Pick<Schema, 'maxLength'> & { readonly enum?: readonly string[] };
  readonly integer: Pick<Schema, 'minimum' | 'maximum'> & { readonly enum?: readonly number[] };
  readonly boolean: object;
}

type FieldOf<Of extends Kind> = LimitsOf[Of] & {
  readonly type: Of;
  readonly default: ValueOf<Of>;
  /** For openapi.yaml, which otherwise describes the kind and the limits. */
  readonly description?: string;
};

/** A field of one of the kinds, in the words of JSON Schema. */
export type Field = { [Of in Kind]: FieldOf<Of> }[Kind];

/** The members of a body by name: openapi.yaml is generated from these tables. */
export type Fields = Readonly<Record<string, Field>>;

/** The values that a table describes. */
export type ValuesOf<Table extends Fields> = {
  -readonly [Name in keyof Table]: Table[Name] extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : ValueOf<Table[Name]['type']>;
};

/** Checks the kind and the limits of a value. Those of a number and of a text do not hold for another kind. */
export function isValueOf(schema: Schema, value: unknown): boolean {
  const { type, enum: allowed, minimum = -Infinity, maximum = Infinity, maxLength = Infinity } = schema;
  if (!kinds[type](value) || allowed?.includes(value) === false) return false;
  if (typeof value === 'number') return value >= minimum && value <= maximum;
  return typeof value !== 'string' || hasAtMost(maxLength, value);
}

/** Counts code points, as JSON Schema does. A code point takes one or two of the units that `length` counts. */
function hasAtMost(codePoints: number, text: string): boolean {
  const { length } = text;
  // Stryker disable next-line ConditionalExpression,EqualityOperator: it saves time, the result is that of the last line
  if (length <= codePoints) return true;
  // Stryker disable next-line ConditionalExpression: it saves memory, the result is that of the last line
  if (length > 2 * codePoints) return false;
  return [...text].length <= codePoints;
}
