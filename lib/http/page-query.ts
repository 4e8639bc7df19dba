import type { APIGatewayProxyEvent } from 'aws-lambda';
import { HttpError, outcomes } from './outcomes.ts';
import { parseUrlParameter, urlParameters } from './url-parameters.ts';

/** Reads `limit`, if there is one, and `after`. @throws {HttpError} 400 when a value is malformed or out of bounds */
export function readPageQuery({ queryStringParameters }: APIGatewayProxyEvent) {
  const { limit: limitText, after: afterText = '0' } = queryStringParameters ?? {};
  const limit = parseUrlParameter(urlParameters.limit, limitText);
  const after = parseUrlParameter(urlParameters.after, afterText);
  if (after !== undefined && (limit !== undefined || limitText === undefined)) return { limit, after };
  throw new HttpError(outcomes.invalidInput);
}

/**
 * Makes the header that links to the next page (RFC 8288), relative to this one: a path would be wrong behind a proxy
 * that strips a prefix.
 */
export function linkHeader(limit: number, after: number): { Link: string } {
  return { Link: `<?limit=${limit}&after=${after}>; rel="next"` };
}
