import type { VersionedBook } from '../books/book.ts';

export type Item = Readonly<Record<string, unknown>>;

/** A book with the tokens of the writes that created it and that preceded the last one. */
export interface StoredBook {
  readonly current: VersionedBook;
  readonly previousToken: unknown;
  readonly createToken: unknown;
}

/** @returns the book in an item; `undefined` when an attribute is missing or has the wrong type */
export function parseBook(item: Item): StoredBook | undefined {
  const { id, title, author, year, writeToken, previousWriteToken, createToken = writeToken } = item;
  if (!isInteger(id) || !isInteger(year) || !isText(title) || !isText(author)) return undefined;
  const current = { book: { id, title, author, year }, version: isText(writeToken) ? writeToken : undefined };
  return { current, previousToken: previousWriteToken, createToken };
}

/** @returns the last id that was drawn, 0 before the first; `undefined` when the item is damaged */
export function parseCounter({ lastId }: Item): number | undefined {
  return isInteger(lastId) && lastId >= 0 ? lastId : undefined;
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
