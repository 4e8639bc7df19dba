import type { Book, BookFields } from '../../../lib/books/book.ts';
import type { Interval } from '../find-order.ts';

/** What a client did and was told. A response that never came, or a 503, leaves `returned` at Infinity. */
export type Operation = Interval & {
  /** The status of the response; 0 when the connection broke. */
  readonly status: number;
} & (
    | {
        readonly type: 'create';
        /** The title is like no other book's, and no update changes it. */
        readonly fields: BookFields;
        readonly book?: Book | undefined;
      }
    | { readonly type: 'get' | 'delete'; readonly id: number; readonly book?: Book | undefined }
    | {
        readonly type: 'update';
        readonly id: number;
        readonly changes: Omit<BookFields, 'title'>;
        readonly book?: Book | undefined;
      }
    /** Counts as a read of every book. */
    | { readonly type: 'list'; readonly books: readonly Book[] }
  );

/** @param operation - what a client did */
export function hasResponse({ status }: Operation): boolean {
  return status !== 0 && status !== 503;
}
