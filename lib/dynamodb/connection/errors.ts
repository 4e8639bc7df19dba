import { namedError } from '../../named-error.ts';

/** The database gave no usable response. */
export class StorageUnavailableError extends namedError('StorageUnavailableError') {}

/** Nobody can know whether a write was carried out, or will be: its response is lost, and what is stored does not tell. */
export class OutcomeUnknownError extends namedError('OutcomeUnknownError') {}

/** An operator has to set the counter of ids. It is missing, behind the ids of books, or at the highest id. */
export class CounterError extends namedError('CounterError') {}

/** This attempt got no usable response. Another one may. */
export class AttemptError extends namedError('AttemptError') {
  /** Whether DynamoDB may have carried out the request, or may do so later. It may, unless the opposite is known. */
  readonly mayBeDone: boolean;

  /** @param message - never text of the response, which may hold a book */
  constructor(message: string, { mayBeDone = true, ...options }: ErrorOptions & { mayBeDone?: boolean } = {}) {
    super(message, options);
    this.mayBeDone = mayBeDone;
  }
}

/** The condition of a write did not hold, and nothing was written. */
export class ConditionFailedError extends namedError('ConditionFailedError') {
  /** The item that refused the write, if the response has it. */
  readonly stored: Readonly<Record<string, unknown>> | undefined;

  constructor(stored?: Readonly<Record<string, unknown>>) {
    super('the condition of a request does not hold');
    this.stored = stored;
  }
}

/** An item would be larger than the 400 KB that DynamoDB stores. Nothing was written. */
export class ItemTooLargeError extends namedError('ItemTooLargeError') {}

/** DynamoDB calls the request invalid: a bug of ours, or a table with another key schema. */
export class InvalidRequestError extends namedError('InvalidRequestError') {}

export class TableNotFoundError extends namedError('TableNotFoundError') {}

/** The table has another primary key than ours. */
export class KeySchemaError extends namedError('KeySchemaError') {}
