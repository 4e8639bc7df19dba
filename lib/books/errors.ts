/** No book has the id. */
export class BookNotFoundError extends Error {
  override readonly name = 'BookNotFoundError';
}

/** The book does not fit into an item of the table. */
export class BookTooLargeError extends Error {
  override readonly name = 'BookTooLargeError';
}

/** The book is in none of the versions that the client named. Nothing was changed. */
export class VersionMismatchError extends Error {
  override readonly name = 'VersionMismatchError';
}

/** The idempotency key belongs to a book with other fields. Nothing was stored. */
export class IdempotencyKeyUsedError extends Error {
  override readonly name = 'IdempotencyKeyUsedError';
}

/** The database gave no usable response within timeout and attempts. A write may or may not have been carried out. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/**
 * The counter, reset or lost, gave the id of an existing book. Nothing was overwritten. Creates fail until an operator
 * sets the counter's `lastId` to the highest id in the table.
 */
export class IdTakenError extends Error {
  override readonly name = 'IdTakenError';

  constructor(id: number, options?: ErrorOptions) {
    super(
      `the counter drew id ${id}, which a book has already: set its lastId to the highest id in the table`,
      options,
    );
  }
}

/** The table holds books and no counter, so the end of the list is unknown. */
export class CounterMissingError extends Error {
  override readonly name = 'CounterMissingError';

  constructor() {
    super(
      'the table has books and no counter: put the item with the highest id as its lastId (docs/operations.md)',
    );
  }
}

/** The counter has drawn the highest id there is. Nothing was stored. */
export class IdsExhaustedError extends Error {
  override readonly name = 'IdsExhaustedError';

  constructor(options?: ErrorOptions) {
    super('the counter is at 2^53-1, the highest id: set its lastId to the highest id in the table', options);
  }
}
