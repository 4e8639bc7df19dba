import type { VersionedBook } from '../books/book.ts';

/** The attributes of an item, or some of them, as lib-dynamodb returns them. */
export type Item = Readonly<Record<string, unknown>>;

/** A book with the write tokens of its item. The token of the last write is the version. */
export interface StoredBook {
  readonly current: VersionedBook;
  /** The token of the last write but one. */
  readonly previousToken: unknown;
  /** The token of the write that created the book. */
  readonly createToken: unknown;
}

/**
 * @param item - the item of a book
 * @returns the book, or `undefined` when an attribute is missing or has the wrong type: the response is damaged
 */
export function parseBook(item: Item): StoredBook | undefined {
  const { id, title, author, year, writeToken, previousWriteToken, createToken = writeToken } = item;
  if (!isInteger(id) || !isInteger(year) || !isText(title) || !isText(author)) return undefined;
  const version = isText(writeToken) ? writeToken : undefined;
  return {
    current: { book: { id, title, author, year }, version },
    previousToken: previousWriteToken,
    createToken,
  };
}

/**
 * @param item - the counter item
 * @returns the last id that was drawn, 0 before the first; `undefined` when the response is damaged
 */
export function parseCounter({ lastId }: Item): number | undefined {
  return isInteger(lastId) && lastId >= 0 ? lastId : undefined;
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
