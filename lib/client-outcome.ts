import * as token from './auth/errors.ts';
import * as books from './books/errors.ts';
import { ItemTooLargeError, OutcomeUnknownError, StorageUnavailableError } from './dynamodb/connection/errors.ts';
import { HttpError, type Outcome, outcomes } from './http/outcomes.ts';

/** Maps the error that ended a request to the outcome that the client sees, which never has the error's own text. */
export function clientOutcomeOf(error: unknown): Outcome {
  if (error instanceof HttpError) return error.outcome;
  if (error instanceof token.InvalidTokenError) return outcomes.invalidToken;
  if (error instanceof token.TokenNotSignedError) return outcomes.tokenNotGenerated;
  if (error instanceof books.BookNotFoundError) return outcomes.bookNotFound;
  if (error instanceof books.VersionMismatchError) return outcomes.preconditionFailed;
  if (error instanceof books.IdempotencyKeyUsedError) return outcomes.idempotencyKeyUsed;
  if (error instanceof ItemTooLargeError) return outcomes.payloadTooLarge;
  if (error instanceof StorageUnavailableError) return outcomes.serviceUnavailable;
  if (error instanceof OutcomeUnknownError) return outcomes.serviceUnavailable;
  return outcomes.internalError;
}
