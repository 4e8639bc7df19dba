import { type EncodedBody, readJsonObject } from './json-body.ts';
import { isText } from './well-formed-text.ts';

/** A string; `default` stands for a member that a body leaves out. */
interface TextField {
  readonly type: 'string';
  readonly default: string;
}

/** A whole number between two safe integers. */
interface IntegerField {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

/** What a member of a request may be, in the words of JSON Schema: openapi.yaml says it with these very objects. */
export type Field = TextField | IntegerField;

/** The members of a request, by name. */
export type Fields = Readonly<Record<string, Field>>;

/** The values that go with a table of fields. */
export type ValuesOf<Table extends Fields> = {
  -readonly [Name in keyof Table]: Table[Name] extends TextField ? string : number;
};

/**
 * Reads those members of a JSON body that a table names; others are left out.
 *
 * @param encoded - the request body
 * @param table - the members and what each may be
 * @returns the members that the body holds, or `undefined` when it is no JSON object or one of them is something else
 */
export function readFields<Table extends Fields>(
  encoded: EncodedBody,
  table: Table,
): Partial<ValuesOf<Table>> | undefined {
  const body = readJsonObject(encoded);
  if (body === undefined) return undefined;
  const given = Object.entries(table).filter(([name]) => Object.hasOwn(body, name));
  if (!given.every(([name, field]) => isValueOf(field, body[name]))) return undefined;
  return Object.fromEntries(given.map(([name]) => [name, body[name]])) as Partial<ValuesOf<Table>>;
}

/**
 * Tells whether a value is one that a field may have.
 *
 * @param field - what it may be
 * @param value - a value out of a parsed JSON body, or a number
 */
export function isValueOf(field: Field, value: unknown): boolean {
  if (field.type === 'string') return isText(value);
  return Number.isSafeInteger(value) && Number(value) >= field.minimum && Number(value) <= field.maximum;
}
