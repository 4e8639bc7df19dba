import type { APIGatewayProxyEvent } from 'aws-lambda';
import { isValueOf, type Schema } from '../fields.ts';
import { HttpError, outcomes } from './outcomes.ts';

/** The parameters of paths and query strings, in the words of JSON Schema. openapi.yaml is generated from them. */
export const urlParameters = {
  id: { type: 'integer', minimum: 1 },
  // The ids of a page are held in memory, and a client reads a large catalog in few requests.
  limit: { type: 'integer', minimum: 1, maximum: 1000 },
  after: { type: 'integer', minimum: 0, default: 0 },
} as const;

/** Decimal digits without sign and leading zero. */
const canonicalUnsignedInteger = /^(?:0|[1-9][0-9]*)$/;

/** Reads the `{id}` of the path. @throws {HttpError} 404 when no book can have that id */
export function readBookId({ pathParameters }: APIGatewayProxyEvent): number {
  const id = parseUnsignedInteger(pathParameters?.id, urlParameters.id);
  if (id === undefined) throw new HttpError(outcomes.bookNotFound);
  return id;
}

/** Reads `limit`, if there is one, and `after`. @throws {HttpError} 400 when a value is malformed or out of bounds */
export function readPageQuery({ queryStringParameters }: APIGatewayProxyEvent) {
  const { limit: limitText, after: afterText = '0' } = queryStringParameters ?? {};
  const limit = parseUnsignedInteger(limitText, urlParameters.limit);
  const after = parseUnsignedInteger(afterText, urlParameters.after);
  if (after !== undefined && (limit !== undefined || limitText === undefined)) return { limit, after };
  throw new HttpError(outcomes.invalidInput);
}

function parseUnsignedInteger(text: string | undefined, schema: Schema) {
  const value = canonicalUnsignedInteger.test(String(text)) ? Number(text) : Number.NaN;
  return isValueOf(schema, value) ? value : undefined;
}

/**
 * Makes the header that links to the next page (RFC 8288), relative to this one: a path would be wrong behind a proxy
 * that strips a prefix.
 */
export function linkToNext(limit: number, after: number): { Link: string } {
  return { Link: `<?limit=${limit}&after=${after}>; rel="next"` };
}

/** Makes the header with the path of a created book (RFC 9110 section 10.2.2), relative to the host, with the stage. */
export function locationHeader({ requestContext }: APIGatewayProxyEvent, id: number): { Location: string } {
  // API Gateway ignores a slash at the end.
  return { Location: `${requestContext.path.replace(/\/$/, '')}/${id}` };
}
