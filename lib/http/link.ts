import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * Makes the header that tells where the list goes on (RFC 8288). The path is the one that the client asked for, with
 * the stage where there is one.
 *
 * @param event - the request
 * @param parameters - the query parameters of the next page
 */
export function linkToNext(
  { requestContext }: APIGatewayProxyEvent,
  parameters: Readonly<Record<string, number>>,
): { Link: string } {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return { Link: `<${requestContext.path}?${query.join('&')}>; rel="next"` };
}
