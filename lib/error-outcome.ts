import { InvalidTokenError, TokenNotSignedError } from './auth/errors.ts';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdempotencyKeyUsedError,
  StorageUnavailableError,
  VersionMismatchError,
} from './books/errors.ts';
import { HttpError, type Outcome, outcomes } from './http/outcomes.ts';

/** Maps what ended a request to the outcome that the client sees. The text of an unforeseen error is for the log only. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof HttpError) return error.outcome;
  if (error instanceof InvalidTokenError) return outcomes.invalidToken;
  if (error instanceof TokenNotSignedError) return outcomes.tokenNotGenerated;
  if (error instanceof BookNotFoundError) return outcomes.bookNotFound;
  if (error instanceof BookTooLargeError) return outcomes.payloadTooLarge;
  if (error instanceof VersionMismatchError) return outcomes.preconditionFailed;
  if (error instanceof IdempotencyKeyUsedError) return outcomes.idempotencyKeyUsed;
  if (error instanceof StorageUnavailableError) return outcomes.serviceUnavailable;
  return outcomes.internalError;
}
