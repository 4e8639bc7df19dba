/** No book with the id exists. */
export class BookNotFoundError extends Error {
  override readonly name = 'BookNotFoundError';

  constructor() {
    super('no book has this id');
  }
}

/** The book does not fit into a DynamoDB item (400 KB with attribute names: "Constraints in Amazon DynamoDB"). */
export class BookTooLargeError extends Error {
  override readonly name = 'BookTooLargeError';

  constructor(options?: ErrorOptions) {
    super('the book is larger than a DynamoDB item may be', options);
  }
}

/**
 * The database could not be reached, refused, or gave no usable answer within the client's time limits and
 * attempts. A write that ends so may or may not have been carried out.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * The counter drew the id of a book that is there already, so it was reset or lost. Nothing was overwritten. Creating
 * fails until an operator sets the counter's `lastId` to the highest id in the table.
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
