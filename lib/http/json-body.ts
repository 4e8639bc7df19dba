import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Fields, isValueOf, type ValuesOf } from '../fields.ts';

/** The members of an event that hold the body. */
export type EncodedBody = Readonly<Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>>;

/** A byte order mark stays in the text, so that JSON.parse refuses it (RFC 8259 section 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Like {@link readGivenFields}, with the table's default for each member that is missing. */
export function readFields<T extends Fields>(encoded: EncodedBody, table: T): ValuesOf<T> | undefined {
  const given = readGivenFields(encoded, table);
  const defaults = Object.entries(table).map(([name, field]) => [name, field.default]);
  return given && { ...Object.fromEntries(defaults), ...given };
}

/**
 * Reads the members of a JSON body that a table names. Other members are ignored, and missing ones stay missing.
 *
 * @returns the values, or `undefined` when the body is not a JSON object in UTF-8, or a member does not fit the table
 */
export function readGivenFields<T extends Fields>(encoded: EncodedBody, table: T) {
  const integers = Object.keys(table).filter((name) => table[name]?.type === 'integer');
  const body = readJsonObject(encoded, integers);
  if (body === undefined) return undefined;
  const given = Object.entries(table).filter(([name]) => Object.hasOwn(body, name));
  if (!given.every(([name, field]) => isValueOf(field, body[name]))) return undefined;
  return Object.fromEntries(given.map(([name]) => [name, body[name]])) as Partial<ValuesOf<T>>;
}

/**
 * Reads a body as one JSON object, whatever its Content-Type.
 *
 * @param integers - the names of integer members: one that is a fraction, and that JavaScript would round, is NaN
 * @returns `undefined` when it is absent, not UTF-8, not JSON or not an object
 */
export function readJsonObject(
  encoded: EncodedBody,
  integers: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  const body = encoded.body ?? '';
  try {
    const text = encoded.isBase64Encoded ? utf8.decode(Buffer.from(body, 'base64')) : body;
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const object = value as Record<string, unknown>;
    const found = integers.filter((name) => Object.hasOwn(object, name) && Number.isInteger(object[name]));
    const literals = found.length > 0 ? findLiterals(text, found) : new Map();
    const rounded = found.filter((name) => !isIntegerLiteral(literals.get(name)));
    return rounded.length > 0
      ? { ...object, ...Object.fromEntries(rounded.map((name) => [name, Number.NaN])) }
      : object;
  } catch {
    return undefined;
  }
}

const valueLiteral = /\s*([-+.\w]*)/y;

/**
 * Finds the literals of members of an object, which JSON.parse does not tell. A reviver of JSON.parse gets those of all
 * values, and takes many times the CPU time (docs/decisions.md).
 *
 * @param text - an object that JSON.parse has accepted
 * @returns the literals by name, of the last member with the name, whose value JSON.parse takes
 */
function findLiterals(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  const literals = new Map<string, string>();
  let depth = 0;
  let name = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = findEnd(text, at);
      name = text.slice(at, end + 1); // if a colon follows
      at = end;
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ':' && depth === 1) {
      const member: string = JSON.parse(name);
      valueLiteral.lastIndex = at + 1;
      if (names.includes(member)) literals.set(member, valueLiteral.exec(text)?.[1] ?? '');
    }
  }
  return literals;
}

/** Finds the quotation mark that ends a string. One behind an odd number of backslashes is part of the string. */
function findEnd(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1);
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

const numberLiteral = /^-?(?<integer>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

/**
 * Tells whether a JSON number literal denotes an integer in mathematics: `2020.0` and `2.02e3` do, `1e-400` does not.
 *
 * Example: `2.020e2` has three digits after the point. The exponent moves two of them before it, and the last one is a
 * zero at the end: 3 - 2 - 1 = 0.
 */
export function isIntegerLiteral(literal = ''): boolean {
  const { integer, fraction = '', exponent = '0' } = numberLiteral.exec(literal)?.groups ?? {};
  if (integer === undefined) return false;
  const digits = integer + fraction;
  // Without the assertion, a long run of zeros inside the digits would take quadratic time.
  const { length } = digits.replace(/(?<!0)0+$/, '');
  return length === 0 || fraction.length - Number(exponent) - (digits.length - length) <= 0;
}
