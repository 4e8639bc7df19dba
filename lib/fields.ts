/** A whole number between safe integers. */
export interface IntegerField {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
}

/** A whole number, or any text of well-formed Unicode. */
type Field = IntegerField | { readonly type: 'string' };

/** The members of a body by name, in the words of JSON Schema: openapi.yaml is generated from these tables. */
export type Fields = Readonly<Record<string, Field & { readonly default: unknown }>>;

/** The values that a table describes. */
export type ValuesOf<Table extends Fields> = {
  -readonly [Name in keyof Table]: Table[Name] extends IntegerField ? number : string;
};

/** Checks a value. A lone surrogate (`"\ud800"` in JSON) is refused: UTF-8, and so the database, has U+FFFD for it. */
export function isValueOf(field: Field, value: unknown): boolean {
  if (field.type === 'string') return typeof value === 'string' && value.isWellFormed();
  return Number.isSafeInteger(value) && Number(value) >= field.minimum && Number(value) <= field.maximum;
}
