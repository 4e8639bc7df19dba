/** What a client supplies about a book (SPEC.md section 2). */
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
