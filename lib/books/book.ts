import type { ValuesOf } from '../fields.ts';

/** The members of a book's body (specification 6.1); POST /book stores the default of one that is missing. */
export const bookFields = {
  title: { type: 'string', default: '' },
  author: { type: 'string', default: '' },
  year: {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  },
} as const;

/** The fields that a client supplies (specification 3.1). */
export type BookFields = Readonly<ValuesOf<typeof bookFields>>;

/** A stored book. */
export interface Book extends BookFields {
  /** 1 to 2^53-1, drawn from the counter, never used twice. */
  readonly id: number;
}

/** A book in one of its versions. */
export interface VersionedBook {
  readonly book: Book;
  /** Changes with each change of the book; `undefined` for a book that was stored by other means and never updated. */
  readonly version: string | undefined;
}

/** The result of a create. */
export interface CreatedBook extends VersionedBook {
  /** Whether an earlier request with the same idempotency key stored the book. */
  readonly replayed: boolean;
}
