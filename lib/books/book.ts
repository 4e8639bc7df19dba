/** "Constraints in Amazon DynamoDB": 400 KB with the names of the attributes. */
const maxItemBytes = 400 * 1024;

/** What an item holds besides its texts: names, numbers, write tokens. */
const reservedBytes = 256;

/** Bytes in UTF-8 that title and author may have together. */
export const maxTextBytes = maxItemBytes - reservedBytes;

/** What a client supplies about a book (specification 3.1). */
export interface BookFields {
  readonly title: string;
  readonly author: string;
  /** A safe integer: -(2^53-1) to 2^53-1. */
  readonly year: number;
}

/** A stored book. */
export interface Book extends BookFields {
  /** 1 to 2^53-1, drawn from the counter, never used twice. */
  readonly id: number;
}

/** A book as it is at one moment. */
export interface VersionedBook {
  readonly book: Book;
  /** Another one after each change of the book. A book that was not stored by this service has none until it is changed. */
  readonly version: string | undefined;
}

/** The outcome of a create. */
export interface CreatedBook extends VersionedBook {
  /** Whether an earlier request with the same idempotency key has stored the book. */
  readonly replayed: boolean;
}
