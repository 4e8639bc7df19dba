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

/** DynamoDB may carry out the request: it received the same one before, or the SDK found no name in the response. */
const unclear = ['TransactionInProgressException', 'Unknown'];

/** RFC 9110 section 15.5.9: the request did not arrive in time, or on a connection that the server was closing. */
const requestTimeoutStatus = 408;

/** A transaction with the same item was under way. */
const conflicts = ['TransactionConflictException', 'TransactionCanceledException'];

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
  const { name, message } = error;
  if (name === 'ValidationException') {
    // DynamoDB has no other error for an item over 400 KB.
    if (/item size/i.test(message)) return new ItemTooLargeError('the item is too large', { cause: error });
    // The rest of the message may quote a value.
    const [problem] = message.split(/[:'"{[]/);
    return new InvalidRequestError(`DynamoDB refused the request as invalid: ${problem}`);
  }
  // The message quotes the response, which may be a book, and errors are logged.
  if (name === 'SyntaxError') return new AttemptError('DynamoDB failed: its response is not JSON');
  const { httpStatusCode: status = 0 } = (error as DynamoDBServiceException).$metadata ?? {};
  const isRefused = status >= 400 && status < 500 && status !== requestTimeoutStatus && !unclear.includes(name);
  const options = { mayBeDone: !isRefused, cause: error };
  const isTemporary = isThrottlingError(error as never) || isClockSkewCorrectedError(error as never);
  return isRefused && !isTemporary && !conflicts.includes(name)
    ? new StorageUnavailableError(describeFailure(error), options)
    : new AttemptError(describeFailure(error), options);
}

/** @returns the text for the log about a request that failed */
export function describeFailure({ name, message, code = '' }: NodeJS.ErrnoException): string {
  return `DynamoDB failed: ${name}: ${message || code}`;
}

/** Finds a failed condition. Beside a conflict it does not count, because it may hold at the next attempt. */
function findRefusal(error: Error): ConditionFailedError | undefined {
  if (error instanceof ConditionalCheckFailedException) return new ConditionFailedError(readItem(error.Item));
  const { CancellationReasons: reasons } = error as TransactionCanceledException;
  if (reasons === undefined) return undefined;
  const failed = reasons.filter(({ Code }) => Code !== 'None');
  const isRefusal = failed.length > 0 && failed.every(({ Code }) => Code === 'ConditionalCheckFailed');
  return isRefusal ? new ConditionFailedError(readItem(failed.find(({ Item }) => Item)?.Item)) : undefined;
}

/** @returns the attributes, or `undefined` when there is no item, or the SDK cannot read one of them */
function readItem(item: Record<string, AttributeValue> | undefined) {
  try {
    return item && unmarshall(item);
  } catch {
    // It throws for a number like 2^53 and a half.
  }
  return undefined;
}
