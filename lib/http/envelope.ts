import type { APIGatewayProxyResult } from 'aws-lambda';
import { type Outcome, outcomes } from './outcomes.ts';

/** The result of a handler. */
export interface Result {
  /** `data` of the envelope, `null` by default. */
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the success of the endpoint. */
  readonly outcome?: Outcome;
}

/** Makes the response: the envelope `{status, message, data}` (specification 1.1). */
export function createResponse(
  success: Outcome,
  { outcome = success, data = null, headers }: Result,
): APIGatewayProxyResult {
  const { status, message } = outcome;
  const allHeaders = { ...outcome.headers, ...headers };
  // A 304 has no content (RFC 9110 section 15.4.5), and so no envelope.
  if (outcome === outcomes.notModified) return { statusCode: status, headers: allHeaders, body: '' };
  return {
    statusCode: status,
    headers: { 'Content-Type': 'application/json', ...allHeaders },
    body: JSON.stringify({ status, message, data }),
  };
}
