import type { Book, BookFields } from '../../lib/books/book.ts';

/** A row that may have become a book. */
export interface UncertainRow {
  readonly line: number;
  readonly book: BookFields;
  /** Its book, if there is one, has a higher id. */
  readonly above: number;
}

/** Finds the books that rows have become, by their fields. */
export class BookMatcher {
  readonly #rows = new Map<string, UncertainRow[]>();
  readonly #ids = new Map<string, number[]>();

  /** @param rows - the rows in question */
  constructor(rows: readonly UncertainRow[]) {
    for (const row of rows) {
      const key = keyOf(row.book);
      this.#rows.set(key, [...(this.#rows.get(key) ?? []), row]);
    }
  }

  /**
   * Considers a book of the catalog. Books are offered in ascending order of their ids.
   *
   * @param book - a book that belongs to no other row
   */
  offer(book: Book): void {
    const key = keyOf(book);
    if (this.#rows.has(key)) this.#ids.set(key, [...(this.#ids.get(key) ?? []), book.id]);
  }

  /**
   * Gives each book to one row, and a book to as many rows as can be.
   *
   * @returns ids by line
   */
  match(): Map<number, number> {
    const found = new Map<number, number>();
    for (const [key, rows] of this.#rows) {
      const ids = this.#ids.get(key) ?? [];
      // Rows with the fewest books to choose from come first: their books suit all rows that come later.
      for (const { line, above } of rows.toSorted((a, b) => b.above - a.above)) {
        const index = ids.findIndex((id) => id > above);
        if (index >= 0) found.set(line, ...(ids.splice(index, 1) as [number]));
      }
    }
    return found;
  }
}

function keyOf({ title, author, year }: BookFields): string {
  return JSON.stringify([title, author, year]);
}
