import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * The values of a header, one for each time that it was sent. API Gateway passes names on as they were sent, and a name
 * that was sent in two spellings as two names (RFC 9110 section 5.1: they are one).
 *
 * @param event - a request
 * @param name - the name of the header, in lower case
 */
export function headerValues(
  { headers, multiValueHeaders }: Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>,
  name: string,
): readonly string[] {
  const values = valuesOf(multiValueHeaders, name).flat();
  // Events that were made by hand, in AWS's console for one, may lack either or both.
  return values.length > 0 ? values : valuesOf(headers, name);
}

function valuesOf<Value>(headers: Readonly<Record<string, Value | undefined>> | null, name: string): Value[] {
  return Object.entries(headers ?? {}).flatMap(([key, value]) =>
    key.toLowerCase() === name && value !== undefined ? [value] : [],
  );
}
