import type { Book } from '../books/book.ts';
import type { Item } from './read-item.ts';

/** An item in DynamoDB's JSON ("Low-level API" of the Amazon DynamoDB Developer Guide), as far as it is read here. */
type RawItem = Readonly<Record<string, { readonly S?: string; readonly N?: string } | undefined>>;

/**
 * Reads the item of a book.
 *
 * @param item - an item of a response, in DynamoDB's JSON
 * @returns the book, or `undefined` when the item lacks a part of it, as only a damaged response does
 */
export function readRawBook(item: unknown): Book | undefined {
  const { id, title, author, year } = (item ?? {}) as RawItem;
  if (id?.N === undefined || title?.S === undefined || author?.S === undefined || year?.N === undefined) {
    return undefined;
  }
  return { id: Number(id.N), title: title.S, author: author.S, year: Number(year.N) };
}

/**
 * Reads the id of a book's item.
 *
 * @param item - an item of a response, in DynamoDB's JSON
 * @returns the id, or `undefined` when the item has none
 */
export function readRawId(item: unknown): number | undefined {
  const { id } = (item ?? {}) as RawItem;
  return id?.N === undefined ? undefined : Number(id.N);
}

/**
 * Tells whether an item holds a book, so that a damaged response cannot pass for one.
 *
 * @param item - an item as lib-dynamodb gives it
 */
export function isBookItem({ id, title, author, year }: Item): boolean {
  return [id, year].every(Number.isSafeInteger) && [title, author].every((text) => typeof text === 'string');
}

/**
 * Tells whether an item, or the attributes that an update gives, hold the counter's last id.
 *
 * @param item - attributes as lib-dynamodb gives them
 */
export function isCounterItem({ lastId }: Item): boolean {
  return Number.isSafeInteger(lastId) && lastId > 0;
}
