import type { Item } from './read-item.ts';

/**
 * Tells whether an item holds a book, so that a damaged response cannot pass for one.
 *
 * @param item - an item as lib-dynamodb gives it
 */
export function isBookItem({ id, title, author, year }: Item): boolean {
  return [id, year].every(Number.isSafeInteger) && [title, author].every((text) => typeof text === 'string');
}

/**
 * Tells whether an item, or the attributes that an update gives, hold the counter's last id: 0 before the first.
 *
 * @param item - attributes as lib-dynamodb gives them
 */
export function isCounterItem({ lastId }: Item): boolean {
  return Number.isSafeInteger(lastId) && lastId >= 0;
}
