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
  const integers = Object.entries(table).filter(([, { type }]) => type === 'integer');
  const names = integers.map(([name]) => name);
  const body = readJsonObject(encoded, names);
  if (body === undefined) return undefined;
  const given = Object.entries(table).filter(([name]) => Object.hasOwn(body, name));
  if (!given.every(([name, field]) => isValueOf(field, body[name]))) return undefined;
  return Object.fromEntries(given.map(([name]) => [name, body[name]])) as Partial<ValuesOf<T>>;
}

/** A JSON string. It ends at the first quotation mark with an even number of backslashes before it, as in `"a\\"`. */
const string = /".*?(?<!\\)(?:\\\\)*"/;

/** A JSON number with a point or an exponent, without its sign. */
const fraction = /(?<!\d)\d+[.eE][-+.eE\d]*/;

/** The search steps over whole strings, because a string may contain the text of a number. */
const stringOrFraction = new RegExp(`${string.source}|${fraction.source}`, 'gs');

/**
 * Reads a body as one JSON object, whatever its Content-Type.
 *
 * JavaScript rounds fractions such as `2020.00000000000000000001` to integers. They are 0.5 here, so that integer members
 * refuse them. A reviver of JSON.parse gets the literals as well, and takes several times the CPU time (docs/decisions.md).
 *
 * @param integers - the names of integer members. When none of them is an integer, other members may be rounded.
 * @returns `undefined` when it is absent, not UTF-8, not JSON or not an object
 */
export function readJsonObject(
  { body, isBase64Encoded }: EncodedBody,
  integers: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = isBase64Encoded ? utf8.decode(Buffer.from(`${body}`, 'base64')) : `${body}`;
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const object = value as Record<string, unknown>;
    if (!integers.some((name) => Number.isInteger(object[name]))) return object;
    let exact = '';
    let end = 0;
    for (const { 0: part, index } of text.matchAll(stringOrFraction)) {
      if (!Number.isInteger(Number(part)) || isIntegerLiteral(part)) continue;
      exact += `${text.slice(end, index)}0.5`;
      end = index + part.length;
    }
    return JSON.parse(exact + text.slice(end));
  } catch {
    // Neither UTF-8 nor JSON.
  }
  return undefined;
}

const numberLiteral = /^-?(?<integer>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

/**
 * Tells whether a JSON number literal denotes an integer in mathematics: `2020.0` and `2.02e3` do, `1e-400` does not.
 *
 * Example: `2.020e2` has three digits after the point. The exponent moves two of them before it, and the last one is a
 * zero at the end: 3 - 2 - 1 = 0.
 */
export function isIntegerLiteral(literal: string): boolean {
  const { integer, fraction = '', exponent = 0 } = numberLiteral.exec(literal)?.groups ?? {};
  if (integer === undefined) return false;
  const digits = integer + fraction;
  // Without the assertion, a long run of zeros inside the digits would take quadratic time.
  const { length } = digits.replace(/(?<!0)0+$/, '');
  return length === 0 || fraction.length - Number(exponent) - (digits.length - length) <= 0;
}
