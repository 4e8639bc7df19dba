import {
  ConditionalCheckFailedException,
  type DynamoDBServiceException,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isClockSkewCorrectedError, isThrottlingError } from '@smithy/core/retry';
import { BookTooLargeError, StorageUnavailableError } from '../books/errors.ts';
import { namedError } from '../named-error.ts';
import type { Item } from './stored-items.ts';

/** An attempt got no usable response. Another one may. */
export class AttemptError extends namedError('AttemptError') {
  /** Whether DynamoDB may have carried out the request. */
  readonly mayBeDone: boolean;

  /** @param message - never text of the response, which may hold a book */
  constructor(message: string, { mayBeDone, ...options }: ErrorOptions & { mayBeDone: boolean }) {
    super(message, options);
    this.mayBeDone = mayBeDone;
  }
}

/** The condition of a write did not hold. Nothing was written. `stored` is the item that refused it, if that was asked for. */
export class ConditionFailedError extends namedError('ConditionFailedError') {
  stored?: Item;
}

export class TableNotFoundError extends namedError('TableNotFoundError') {}

/** The table has another primary key than ours. */
export class KeySchemaError extends namedError('KeySchemaError') {}

/** No connection was made, or DynamoDB refused the request because of another one. */
const unsentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];
const conflicts = ['TransactionConflictException', 'TransactionCanceledException'];

/**
 * @param error - of one attempt
 * @returns a {@link ConditionFailedError} or a {@link BookTooLargeError} when DynamoDB refused the write; an
 *   {@link AttemptError} when another attempt may succeed; a {@link StorageUnavailableError} when none will; the error itself
 *   when the request was invalid
 */
export function interpretError(error: unknown): Error {
  if (!(error instanceof Error)) return new StorageUnavailableError('DynamoDB failed', { cause: error });
  if (error instanceof AttemptError || error instanceof StorageUnavailableError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const { httpStatusCode: status = 0 } = (error as DynamoDBServiceException).$metadata ?? {};
  const cause = error;
  const { CancellationReasons: reasons } = error as TransactionCanceledException;
  const refusal = reasons?.find(({ Code }) => Code === 'ConditionalCheckFailed');
  if (refusal || error instanceof ConditionalCheckFailedException) {
    const stored = refusal?.Item && unmarshall(refusal.Item);
    return Object.assign(new ConditionFailedError('the condition of a write does not hold'), { stored });
  }
  if (error.name === 'ValidationException') {
    // DynamoDB has no other error for an item over 400 KB. Everything else is a bug of ours, or another key schema.
    const isTooLarge = /item size/i.test(error.message);
    return isTooLarge ? new BookTooLargeError('the item is too large', { cause }) : error;
  }
  // The message quotes the response, which may be a book, and errors are logged.
  if (error.name === 'SyntaxError') {
    return new AttemptError('DynamoDB failed: its response is not JSON', { mayBeDone: true });
  }
  const message = `DynamoDB failed: ${error.name}: ${error.message || code}`;
  // With a clock that is minutes wrong, the SDK marks every error, those after the request was carried out too.
  const isSkewed = status < 500 && isClockSkewCorrectedError(error as never);
  const isTransient = isSkewed || isThrottlingError(error as never);
  if (isTransient || conflicts.includes(error.name) || unsentCodes.includes(code)) {
    return new AttemptError(message, { mayBeDone: false, cause });
  }
  if (status >= 400 && status < 500) return new StorageUnavailableError(message, { cause });
  return new AttemptError(message, { mayBeDone: true, cause });
}
