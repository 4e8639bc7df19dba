/** No book with the id exists. */
export class BookNotFoundError extends Error {
  override readonly name = 'BookNotFoundError';
}

/** The book does not fit into a DynamoDB item (400 KB with attribute names: "Constraints in Amazon DynamoDB"). */
export class BookTooLargeError extends Error {
  override readonly name = 'BookTooLargeError';
}

/** The book is not in any of the versions that the client named. Nothing was changed. */
export class VersionMismatchError extends Error {
  override readonly name = 'VersionMismatchError';
}

/** The idempotency key belongs to a book with other fields. Nothing was stored. */
export class IdempotencyKeyUsedError extends Error {
  override readonly name = 'IdempotencyKeyUsedError';
}

/**
 * The database could not be reached, refused, or gave no usable response within the client's time limits and
 * attempts, or none that says what became of a write. A write that ends so may or may not have been carried out.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/**
 * The counter drew the id of a book that is there already, so it was reset or lost. Nothing was overwritten. Creating
 * fails until an operator sets the counter's `lastId` to the highest id in the table.
 */
export class IdTakenError extends Error {
  override readonly name = 'IdTakenError';

  /**
   * @param id - the id that was drawn
   * @param options - the `cause`
   */
  constructor(id: number, options?: ErrorOptions) {
    super(
      `the counter drew id ${id}, which a book has already: set its lastId to the highest id in the table`,
      options,
    );
  }
}

/** The table holds items and no counter, so that nobody knows where the list of books ends. */
export class CounterMissingError extends Error {
  override readonly name = 'CounterMissingError';

  constructor() {
    super(
      'the table has books and no counter: put the item with the highest id as its lastId (docs/operations.md)',
    );
  }
}
