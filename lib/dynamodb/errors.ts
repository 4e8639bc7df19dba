import { BookTooLargeError, StorageUnavailableError } from '../books/errors.ts';

/**
 * In the text of every ValidationException about an item, or the values of an update, of more than 400 KB. DynamoDB
 * marks these by nothing else.
 */
const tooLargeText = /size.*exceeded|exceeded.*size/i;

/**
 * Translates what a DynamoDB client threw, so that the SDK's exceptions stop here.
 *
 * @param error - the SDK's exception, or what its HTTP handler threw
 * @returns a {@link BookTooLargeError} for an item over 400 KB; the error itself for any other
 *   ValidationException, which is our bug; a {@link StorageUnavailableError} for all the rest: refusals, throttling,
 *   time limits, broken connections and damaged responses
 */
export function translateDynamoDBError(error: unknown): unknown {
  if (!(error instanceof Error)) return new StorageUnavailableError('DynamoDB failed', { cause: error });
  if (error.name === 'ValidationException') {
    return tooLargeText.test(error.message)
      ? new BookTooLargeError('DynamoDB refused the item', { cause: error })
      : error;
  }
  // Its text quotes the response, and that may be a book; this one ends in the log.
  if (error.name === 'SyntaxError') {
    return new StorageUnavailableError('DynamoDB failed: its response is not JSON');
  }
  return new StorageUnavailableError(`DynamoDB failed: ${error.name}: ${error.message}`, { cause: error });
}
