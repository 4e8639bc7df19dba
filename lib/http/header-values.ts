import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * Finds the values of a header, one for each time that it was sent. An event has a member for each spelling of a name,
 * and RFC 9110 section 5.1 makes them one header.
 *
 * @param name - in lower case
 */
export function headerValues(event: APIGatewayProxyEvent, name: string): readonly string[] {
  const values = valuesOf(event.multiValueHeaders, name).flat();
  // Test events of AWS's console may lack either or both.
  return values.length > 0 ? values : valuesOf(event.headers, name);
}

/** Combines the values of a header whose value is a list (RFC 9110 section 5.2). */
export function combinedValue(event: APIGatewayProxyEvent, name: string): string | undefined {
  const values = headerValues(event, name);
  return values.length === 0 ? undefined : values.join().trim();
}

function valuesOf<Value>(headers: Readonly<Record<string, Value | undefined>> | null, name: string): Value[] {
  return Object.entries(headers ?? {}).flatMap(([key, value]) =>
    key.toLowerCase() === name && value !== undefined ? [value] : [],
  );
}
