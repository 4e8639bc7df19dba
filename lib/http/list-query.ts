import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Fields, Kind, Schema, ValuesOf } from '../fields.ts';
import { HttpError, outcomes } from './outcomes.ts';
import { parseUrlParameter, urlParameters } from './url-parameters.ts';

/** The values of fields, and the text of `q`. */
type Filter<T extends Fields> = Partial<ValuesOf<T> & { q: string }>;

/** The parameters of a list. */
export interface ListQuery<T extends Fields> {
  /** The largest number of elements, `undefined` for all. */
  readonly limit: number | undefined;
  /** Only elements with higher ids. */
  readonly after: number;
  /** The parameters that are given and not empty. */
  readonly filter: Filter<T>;
}

/**
 * Reads `limit`, `after`, `q` and the names of fields. The limits of a field do not hold here, because a part of a text is a
 * filter too, and what is stored may be older than a limit.
 *
 * @throws {HttpError} 400 when a value is malformed, or `limit` or `after` is out of bounds
 */
export function readListQuery<T extends Fields>(
  { queryStringParameters }: APIGatewayProxyEvent,
  table: T,
): ListQuery<T> {
  const texts = queryStringParameters ?? {};
  const read = <Of extends Kind>(name: string, schema: Schema & { readonly type: Of }) => {
    const value = parseUrlParameter(schema, texts[name]);
    if (value === undefined && texts[name] !== undefined) throw new HttpError(outcomes.invalidInput, { reason: name });
    return value;
  };
  const filters: Readonly<Record<string, Schema>> = { ...table, q: urlParameters.q };
  // A form sends `year=` for a field that is empty.
  const given = Object.entries(filters).filter(([name]) => texts[name]);
  return {
    limit: read('limit', urlParameters.limit),
    after: read('after', urlParameters.after) ?? urlParameters.after.default,
    filter: Object.fromEntries(given.map(([name, { type }]) => [name, read(name, { type })])) as Filter<T>,
  };
}

/**
 * Makes the header that links to the next page (RFC 8288), relative to this one: a path would be wrong behind a proxy
 * that strips a prefix.
 */
export function linkHeader(
  limit: number,
  after: number,
  filter: Readonly<Record<string, string | number | boolean>>,
): { Link: string } {
  const parameters = Object.entries({ limit, after, ...filter });
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return { Link: `<?${query}>; rel="next"` };
}
