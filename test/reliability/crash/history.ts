import type { Book, BookFields } from '../../../lib/books/book.ts';
import type { Interval } from '../find-order.ts';

/** An operation of a client and its response. `returned` is Infinity for a lost response or a 503. */
export type Operation = Interval & {
  /** The status of the response; 0 when the connection broke. */
  readonly status: number;
} & (
    | {
        readonly type: 'create';
        /** The title is unique, and no update changes it. */
        readonly fields: BookFields;
        readonly book?: Book | undefined;
      }
    | { readonly type: 'get' | 'delete'; readonly id: number; readonly book?: Book | undefined }
    | {
        readonly type: 'update';
        readonly id: number;
        readonly changes: Partial<Omit<BookFields, 'title'>>;
        readonly book?: Book | undefined;
      }
    /** Counts as a read of every book. */
    | { readonly type: 'list'; readonly books: readonly Book[] }
  );

export function hasResponse({ status }: Operation): boolean {
  return status !== 0 && status !== 503;
}
