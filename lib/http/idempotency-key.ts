import type { APIGatewayProxyEvent } from 'aws-lambda';
import { headerValues } from './header-values.ts';
import { HttpError } from './http-error.ts';
import { outcomes } from './outcomes.ts';

/** 1 to 255 visible ASCII characters, taken as they are. */
const idempotencyKey = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
 *
 * @param event - a request
 * @returns the key, or `undefined` when the request has none
 * @throws {HttpError} 400 when the value is no key, or the header was sent twice
 */
export function readIdempotencyKey(event: APIGatewayProxyEvent): string | undefined {
  const values = headerValues(event, 'idempotency-key');
  if (values.length === 0) return undefined;
  const [key = ''] = values;
  if (values.length > 1 || !idempotencyKey.test(key)) throw new HttpError(outcomes.invalidIdempotencyKey);
  return key;
}

/**
 * Makes the header that tells a response to a repeated request from the first one.
 *
 * @param replayed - whether the book had been stored before
 */
export function replayedHeader(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : {};
}
