import type { Fields, ValuesOf } from '../fields.ts';

/** No field can have the name of another attribute of a book's item, or of another parameter of a list. */
type Reserved = Readonly<Partial<Record<'id' | 'shard' | 'version' | 'expiresAt' | 'limit' | 'after' | 'q', never>>>;

/**
 * The fields of a book (specification 3.1). POST /book stores the default of one that is missing. A default never
 * changes: books that are older than the field have it, and the fingerprint of an idempotency key leaves it out.
 * A limit holds for requests. Books that were stored before it keep their values.
 */
export const bookFields = {
  title: { type: 'string', default: '' },
  author: { type: 'string', default: '' },
  year: { type: 'integer', default: 0 },
} as const satisfies Fields & Reserved;

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
  /** `undefined` when another program stored the book, and no update followed. */
  readonly version: string | undefined;
}

/** The result of a create. */
export interface CreatedBook extends VersionedBook {
  /** Whether an earlier request with the same idempotency key stored the book. */
  readonly replayed: boolean;
}
