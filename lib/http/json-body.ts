/** What a body is read from: the two members of an API Gateway proxy event that hold it. */
export interface EncodedBody {
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
}

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

/** What a member of a request may be, in the words of JSON Schema: openapi.yaml is generated from these objects. */
export type Field = TextField | IntegerField;

/** The members of a request, by name. */
export type Fields = Readonly<Record<string, Field>>;

/** The values that go with a table of fields. */
export type ValuesOf<Table extends Fields> = {
  -readonly [Name in keyof Table]: Table[Name] extends TextField ? string : number;
};

/** A BOM is left in, so that JSON.parse refuses it in every encoding alike (RFC 8259 section 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads those members of a JSON body that a table names; others are ignored, whatever their values and their depth.
 *
 * @param encoded - the request body
 * @param table - the members and what each may be
 * @returns the members that the body holds, or `undefined` when it is no JSON object in UTF-8 or one of them is
 *   something else
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
 * Tells whether a value is one that a field may have. A string has to be well-formed Unicode: UTF-8, and so the database,
 * would replace a lone surrogate (`"\ud800"` in JSON) by U+FFFD.
 *
 * @param field - what it may be
 * @param value - a value of a parsed JSON body, or a number
 */
export function isValueOf(field: Field, value: unknown): boolean {
  if (field.type === 'string') return typeof value === 'string' && value.isWellFormed();
  return Number.isSafeInteger(value) && Number(value) >= field.minimum && Number(value) <= field.maximum;
}

/**
 * Reads a request body as one JSON object, whatever its Content-Type.
 *
 * @param encoded - the body, base64 of its bytes when `isBase64Encoded`
 * @returns the object, or `undefined` when the body is absent, not UTF-8, not JSON, or no JSON object; a number that
 *   JavaScript would round to an integer is some fraction in it
 */
export function readJsonObject({
  body,
  isBase64Encoded,
}: EncodedBody): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    const text = isBase64Encoded ? utf8.decode(Buffer.from(body ?? '', 'base64')) : (body ?? '');
    value = JSON.parse(keepFractions(text));
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

const fractionOrExponent = /\d[.eE]/;

/**
 * What tells strings from numbers (RFC 8259 sections 6 and 7): an escape, a quotation mark, an unsigned number. Not a whole
 * string, as its repetition of alternatives overflows V8's stack when it has megabytes.
 */
const escapeQuoteOrNumber = /\\[\s\S]|"|(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Replaces number literals that JavaScript would round to an integer, like `2020.00000000000000000001`, by one that stays a
 * fraction, so that they are refused where an integer is asked for. Text that is no JSON is none afterwards either.
 */
function keepFractions(text: string): string {
  if (!fractionOrExponent.test(text)) return text;
  let inString = false;
  return text.replace(escapeQuoteOrNumber, (token) => {
    if (token === '"') inString = !inString;
    return inString || !Number.isInteger(Number(token)) || isIntegerLiteral(token) ? token : '0.5';
  });
}

const numberLiteral = /^-?(?<integer>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

/**
 * Tells whether a JSON number literal denotes an integer in mathematics: `2020.0` and `2.02e3` do, `1e-400` does not.
 *
 * @param literal - the source text of the number
 */
export function isIntegerLiteral(literal: string): boolean {
  const { integer, fraction = '', exponent = '0' } = numberLiteral.exec(literal)?.groups ?? {};
  if (integer === undefined) return false;
  const digits = integer + fraction;
  // A loop and not /0+$/: that pattern takes quadratic time on a long run of zeros inside the digits.
  let significant = digits.length;
  while (significant > 0 && digits[significant - 1] === '0') significant -= 1;
  const decimalPlaces = fraction.length - Number(exponent) - (digits.length - significant);
  return significant === 0 || decimalPlaces <= 0;
}
