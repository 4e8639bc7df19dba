import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBServiceException,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isClockSkewCorrectedError, isThrottlingError } from '@smithy/core/retry';
import {
  AttemptError,
  ConditionFailedError,
  InvalidRequestError,
  ItemTooLargeError,
  StorageUnavailableError,
} from './errors.ts';

/** The SDK's name for an error response that names no error. DynamoDB sends none. */
const unnamed = 'Unknown';

/** RFC 9110 section 15.5.9: the request did not arrive in time, or on a connection that the server was closing. */
const requestTimeoutStatus = 408;

/**
 * Translates the error of an attempt into what it means for the request:
 * - DynamoDB refused the write: a {@link ConditionFailedError} or a {@link ItemTooLargeError}.
 * - Another attempt may succeed: an {@link AttemptError}.
 * - None will: an {@link InvalidRequestError} or a {@link StorageUnavailableError}.
 */
export function interpretDatabaseError(error: unknown): Error {
  if (!(error instanceof Error)) return new StorageUnavailableError('DynamoDB failed', { cause: error });
  if (error instanceof AttemptError) return error;
  const refusal = findRefusal(error);
  if (refusal) return refusal;
  const cause = error;
  if (error.name === 'ValidationException') {
    // DynamoDB has no other error for an item over 400 KB.
    if (/item size/i.test(error.message)) return new ItemTooLargeError('the item is too large', { cause });
    // The rest of the message may quote a value.
    const [problem] = error.message.split(/[:'"{[]/);
    return new InvalidRequestError(`DynamoDB refused the request as invalid: ${problem}`);
  }
  // The message quotes the response, which may be a book, and errors are logged.
  if (error.name === 'SyntaxError') {
    return new AttemptError('DynamoDB failed: its response is not JSON');
  }
  const message = describeFailure(error);
  // DynamoDB has received the same request before, and carries it out. The SDK would count it as throttling.
  if (error.name === 'TransactionInProgressException') return new AttemptError(message, { cause });
  const { httpStatusCode: status = 0 } = (error as DynamoDBServiceException).$metadata ?? {};
  const isRefused = status >= 400 && status < 500;
  // While the clock is minutes off, the SDK marks every error as skew, even a success that it cannot read.
  const isSkewed = isRefused && isClockSkewCorrectedError(error as never);
  // DynamoDB refused the request because a transaction with the same item was under way.
  const isConflict = ['TransactionConflictException', 'TransactionCanceledException'].includes(error.name);
  if (isSkewed || isThrottlingError(error as never) || isConflict) {
    return new AttemptError(message, { mayBeDone: false, cause });
  }
  return isRefused && status !== requestTimeoutStatus && error.name !== unnamed
    ? new StorageUnavailableError(message, { cause })
    : new AttemptError(message, { cause });
}

/** @returns the text for the log about a request that failed */
export function describeFailure({ name, message, code = '' }: NodeJS.ErrnoException): string {
  return `DynamoDB failed: ${name}: ${message || code}`;
}

/** Finds a failed condition. Beside a conflict it does not count, because it may hold at the next attempt. */
function findRefusal(error: Error): ConditionFailedError | undefined {
  if (error instanceof ConditionalCheckFailedException) return new ConditionFailedError(readItem(error.Item));
  const { CancellationReasons: reasons } = error as TransactionCanceledException;
  if (!reasons?.every(({ Code }) => Code === 'None' || Code === 'ConditionalCheckFailed')) return undefined;
  if (reasons.every(({ Code }) => Code === 'None')) return undefined;
  return new ConditionFailedError(readItem(reasons.find(({ Item }) => Item !== undefined)?.Item));
}

/** @returns the attributes, or `undefined` when there is no item, or the SDK cannot read one of them */
function readItem(item: Record<string, AttributeValue> | undefined) {
  let attributes: Record<string, unknown> | undefined;
  try {
    attributes = item && unmarshall(item);
  } catch {
    // It throws for a number like 2^53 and a half.
  }
  return attributes;
}
