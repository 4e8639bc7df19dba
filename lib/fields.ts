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

/** The limits of each kind, in the words of JSON Schema: whether a value keeps one. */
const limits = {
  string: {
    maxLength: (text: string, codePoints: number) => hasAtMost(codePoints, text),
  },
  integer: {
    minimum: (value: number, minimum: number) => value >= minimum,
    maximum: (value: number, maximum: number) => value <= maximum,
  },
  boolean: {},
} satisfies { readonly [Of in Kind]: Readonly<Record<string, (value: ValueOf<Of>, limit: never) => boolean>> };

type Check = (value: never, limit: never) => boolean;

/** The limits that a kind can have. */
export type LimitsOf<Of extends Kind> = {
  readonly [Name in keyof (typeof limits)[Of]]?: (typeof limits)[Of][Name] extends Check
    ? Parameters<(typeof limits)[Of][Name]>[1]
    : never;
};

/** The kind of a value and its limits. */
export interface Schema extends LimitsOf<'string'>, LimitsOf<'integer'>, LimitsOf<'boolean'> {
  readonly type: Kind;
  /** The allowed values. They narrow the type. */
  readonly enum?: readonly unknown[];
}

type FieldOf<Of extends Kind> = LimitsOf<Of> & {
  readonly type: Of;
  readonly enum?: readonly ValueOf<Of>[];
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

/** Checks the kind and the limits of a value. */
export function isValueOf(schema: Schema, value: unknown): boolean {
  if (!kinds[schema.type](value) || schema.enum?.includes(value) === false) return false;
  const checks: Readonly<Record<string, Check>> = limits[schema.type];
  return Object.entries(schema).every(([name, limit]) => checks[name]?.(value as never, limit as never) !== false);
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
