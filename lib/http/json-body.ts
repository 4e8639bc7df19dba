import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Fields, isValueOf, type ValuesOf } from '../fields.ts';
import { HttpError, type Outcome } from './outcomes.ts';

/** The members of an event that hold the body. */
export type EncodedBody = Readonly<Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>>;

/** A byte order mark stays in the text, so that JSON.parse refuses it (RFC 8259 section 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Like {@link readGivenFields}, with the table's default for each member that is missing. */
export async function readFields<T extends Fields>(
  encoded: EncodedBody,
  table: T,
  invalid: Outcome,
): Promise<ValuesOf<T>> {
  const defaults = Object.entries(table).map(([name, field]) => [name, field.default]);
  return { ...Object.fromEntries(defaults), ...(await readGivenFields(encoded, table, invalid)) };
}

/**
 * Reads the members of a JSON body that a table names, whatever its Content-Type. Other members are ignored, and missing
 * ones stay missing.
 *
 * @param invalid - the outcome when the body is not a JSON object in UTF-8, or a member does not fit the table
 * @throws {HttpError} `invalid`
 */
export async function readGivenFields<T extends Fields>(
  { body, isBase64Encoded }: EncodedBody,
  table: T,
  invalid: Outcome,
) {
  let value: unknown;
  try {
    value = JSON.parse(isBase64Encoded ? utf8.decode(Buffer.from(`${body}`, 'base64')) : `${body}`);
  } catch {
    // Neither UTF-8 nor JSON.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError(invalid, { reason: 'not a JSON object' });
  }
  const object = value as Readonly<Record<string, unknown>>;
  const given = Object.entries(table).filter(([name]) => Object.hasOwn(object, name));
  const [wrong] = given.filter(([name, field]) => !isValueOf(field, object[name]));
  if (wrong) throw new HttpError(invalid, { reason: wrong[0] });
  return Object.fromEntries(given.map(([name]) => [name, object[name]])) as Partial<ValuesOf<T>>;
}
