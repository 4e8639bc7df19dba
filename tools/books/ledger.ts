/** Rows that were made known to the journal together. */
interface Batch {
  /** The books of these rows, if any, have higher ids than this. */
  readonly above: number;
  /** Lines of the rows of which it is not known what became of them. */
  readonly pending: Set<number>;
}

/** A line of the journal. */
export type Entry =
  /** These rows are about to be sent. */
  | { readonly sending: readonly number[]; readonly above: number }
  /** The row on this line has become a book. */
  | { readonly line: number; readonly id: number }
  /** The service does not take the row on this line. */
  | { readonly line: number; readonly refused: string }
  /** The whole file has been worked through. */
  | { readonly complete: true };

/**
 * What is known of an import. It is the sum of the journal's entries: a resumed import adds up the same entries and
 * knows the same.
 *
 * Rows are worked through in the order of the file, a few batches at a time, and only those are held: memory does not
 * grow with the file, but for the rows that the service refused.
 */
export class Ledger {
  readonly #batches = new Map<number, Batch>();
  readonly #claimed = new Set<number>();
  readonly #refused = new Map<number, string>();
  #lastLine = 0;
  #highestId: number;
  #created = 0;
  #complete = false;

  /** @param highestId - no book had a higher id before the import began */
  constructor(highestId: number) {
    this.#highestId = highestId;
  }

  /**
   * The highest id that is known to be taken. Ids only grow, so a book whose request is sent from now on gets a higher
   * one.
   */
  get highestId(): number {
    return this.#highestId;
  }

  /** How many rows have become books. */
  get created(): number {
    return this.#created;
  }

  /** Rows up to this line have been made known; none beyond it has been sent. */
  get lastLine(): number {
    return this.#lastLine;
  }

  /** Whether the whole file has been worked through. */
  get complete(): boolean {
    return this.#complete;
  }

  /** How many batches have rows of which it is not known what became of them. */
  get openBatches(): number {
    return new Set(this.#batches.values()).size;
  }

  /** Adds an entry up. */
  add(entry: Entry): void {
    if ('sending' in entry) this.#begin(entry.sending, entry.above);
    else if ('complete' in entry) this.#complete = true;
    else {
      if ('id' in entry) this.#claim(entry.id);
      else this.#refused.set(entry.line, entry.refused);
      this.#finish(entry.line);
    }
  }

  /**
   * @param line - the line of a row that may have been sent
   * @returns the id that its book's is higher than, or `undefined` when it is known what became of the row
   */
  pendingAbove(line: number): number | undefined {
    return this.#batches.get(line)?.above;
  }

  /**
   * @param line - the line of a row
   * @returns why the service did not take it, if so
   */
  refusal(line: number): string | undefined {
    return this.#refused.get(line);
  }

  /**
   * @param id - the id of a book, higher than that of {@link pendingAbove} of some pending row
   * @returns whether it belongs to a row already
   */
  isClaimed(id: number): boolean {
    return this.#claimed.has(id);
  }

  #begin(lines: readonly number[], above: number): void {
    const batch: Batch = { above, pending: new Set(lines) };
    for (const line of lines) this.#batches.set(line, batch);
    this.#lastLine = Math.max(this.#lastLine, ...lines);
  }

  #claim(id: number): void {
    this.#created += 1;
    this.#claimed.add(id);
    this.#highestId = Math.max(this.#highestId, id);
  }

  #finish(line: number): void {
    const batch = this.#batches.get(line);
    this.#batches.delete(line);
    batch?.pending.delete(line);
    if (batch?.pending.size !== 0) return;
    // A book with a lower id can belong to no row that is pending, now or later.
    const above = Math.min(this.#highestId, ...[...this.#batches.values()].map((open) => open.above));
    for (const id of this.#claimed) if (id <= above) this.#claimed.delete(id);
  }
}
