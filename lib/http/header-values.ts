import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * Finds the values of a header, one for each time that it was sent. An event has a member for each spelling of a name,
 * and RFC 9110 section 5.1 makes them one header.
 *
 * @param name - in lower case
 */
export function headerValues(event: APIGatewayProxyEvent, name: string): readonly string[] {
  const values = valuesOf(event.multiValueHeaders, name);
  // Test events of AWS's console may lack either or both.
  return values.length > 0 ? values : valuesOf(event.headers, name);
}

/** Combines the values of a header whose value is a list (RFC 9110 section 5.2). Without values, the text is empty. */
export function combinedValue(event: APIGatewayProxyEvent, name: string): string {
  return headerValues(event, name).join();
}

function valuesOf(headers: Readonly<Record<string, unknown>> | null, name: string): readonly string[] {
  const named = Object.entries(headers ?? {}).filter(([key]) => key.toLowerCase() === name);
  return named.flatMap(([, value]) => value as string | string[]);
}
