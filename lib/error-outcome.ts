import {
  BookNotFoundError,
  BookTooLargeError,
  IdempotencyKeyUsedError,
  StorageUnavailableError,
  VersionMismatchError,
} from './books/errors.ts';
import { HttpError } from './http/http-error.ts';
import { type Outcome, outcomes } from './http/outcomes.ts';

/**
 * @param error - whatever ended a request
 * @returns what the client is told; an error that nobody foresaw is an internal one, and its text stays here
 */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof HttpError) return error.outcome;
  if (error instanceof BookNotFoundError) return outcomes.bookNotFound;
  if (error instanceof BookTooLargeError) return outcomes.payloadTooLarge;
  if (error instanceof VersionMismatchError) return outcomes.preconditionFailed;
  if (error instanceof IdempotencyKeyUsedError) return outcomes.idempotencyKeyUsed;
  if (error instanceof StorageUnavailableError) return outcomes.serviceUnavailable;
  return outcomes.internalError;
}
