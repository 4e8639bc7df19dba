import type { APIGatewayProxyEvent } from 'aws-lambda';
import { headerValues } from './header-values.ts';
import { HttpError, outcomes } from './outcomes.ts';

/** 1 to 255 visible ASCII characters. */
const idempotencyKey = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
 *
 * @throws {HttpError} 400 when the value is no key, or the header was sent twice
 */
export function readIdempotencyKey(event: APIGatewayProxyEvent): string | undefined {
  const values = headerValues(event, 'idempotency-key');
  if (values.length === 0) return undefined;
  const [key = ''] = values;
  if (values.length > 1 || !idempotencyKey.test(key)) throw new HttpError(outcomes.invalidIdempotencyKey);
  return key;
}

/** Makes the header that marks the response to a repeated request. */
export function replayedHeader(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : {};
}
