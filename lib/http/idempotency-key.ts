import type { APIGatewayProxyEvent } from 'aws-lambda';
import { headerValues } from './header-values.ts';
import { HttpError, outcomes } from './outcomes.ts';

/** 1 to 255 visible ASCII characters. */
const idempotencyKey = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
 *
 * @throws {HttpError} 400 when malformed, or sent twice
 */
export function readIdempotencyKey(event: APIGatewayProxyEvent): string | undefined {
  const keys = headerValues(event, 'idempotency-key');
  const areValid = keys.length <= 1 && keys.every((key) => idempotencyKey.test(key));
  if (!areValid) throw new HttpError(outcomes.invalidIdempotencyKey, { reason: 'Idempotency-Key' });
  return keys[0];
}

/** Makes the header that marks the response to a repeated request. */
export function replayedHeader(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : {};
}
