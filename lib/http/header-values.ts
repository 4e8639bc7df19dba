import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * The values of a header, one for each time that it was sent.
 *
 * @param event - a request whose header names are in lower case
 * @param name - the name of the header, in lower case
 */
export function headerValues(
  { headers, multiValueHeaders }: APIGatewayProxyEvent,
  name: string,
): readonly string[] {
  const value = headers?.[name];
  return multiValueHeaders?.[name] ?? (value === undefined ? [] : [value]);
}
