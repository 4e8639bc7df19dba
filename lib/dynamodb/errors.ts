import { StorageUnavailableError } from '../books/errors.ts';

/** An attempt got no usable response. The SDK retries it. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly $retryable = {}; // tells the SDK to retry
  /** Whether DynamoDB may have received the request. */
  readonly requestSent: boolean;

  /** @param message - never text of the response, which may hold a book */
  constructor(message: string, { requestSent, ...options }: ErrorOptions & { requestSent: boolean }) {
    super(message, options);
    this.requestSent = requestSent;
  }
}

/** The condition of a write did not hold in its last attempt. */
export class ConditionFailedError extends Error {
  override readonly name = 'ConditionFailedError';
  /** Whether the response to an earlier attempt was lost, which may have been carried out. */
  readonly responseLost: boolean;

  constructor(responseLost: boolean, options: ErrorOptions) {
    super('the condition of a write does not hold', options);
    this.responseLost = responseLost;
  }
}

export class TableNotFoundError extends Error {
  override readonly name = 'TableNotFoundError';
}

/** The table has another primary key than ours. */
export class KeySchemaError extends Error {
  override readonly name = 'KeySchemaError';
}

/** @returns the error itself when the request was invalid, a {@link StorageUnavailableError} for all other exceptions */
export function translateDynamoDBError(error: unknown): unknown {
  if (!(error instanceof Error)) return new StorageUnavailableError('DynamoDB failed', { cause: error });
  if (isValidationError(error)) return error;
  // The message quotes the response, which may be a book, and errors are logged.
  if (error.name === 'SyntaxError') {
    return new StorageUnavailableError('DynamoDB failed: its response is not JSON');
  }
  return new StorageUnavailableError(`DynamoDB failed: ${error.name}: ${error.message}`, { cause: error });
}

/** Whether DynamoDB refused a request as invalid: a bug of ours, another key schema, or an item over 400 KB. */
export function isValidationError(error: unknown): boolean {
  return (error as Error).name === 'ValidationException';
}
