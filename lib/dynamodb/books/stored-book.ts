import { type Book, type BookFields, bookFields } from '../../books/book.ts';
import { type Kind, kinds } from '../../fields.ts';
import { damagedItem, type Item, parseInteger } from '../table/stored-items.ts';

/** What an item holds: a book, or no book when it is a tombstone. */
export type StoredBook = Readonly<ReturnType<typeof parseStoredBook>>;

/** The most bytes that a value of each kind takes, without the UTF-8 of a text. */
const maxBytes: Readonly<Record<Kind, number>> = { string: 0, integer: 21, boolean: 1 };

/** "DynamoDB item sizes and formats": an item has at most 400 KB. 100 bytes of them are for the keys and the version. */
const maxFieldBytes = 400 * 1024 - 100;

/** Whether a book with these fields cannot be stored, because the item would be too large. */
export function isTooLarge(fields: Partial<BookFields>): boolean {
  const bytes = Object.entries(bookFields).map(([name, { type }]) => {
    const value = fields[name as keyof BookFields];
    const text = typeof value === 'string' ? value : '';
    return Buffer.byteLength(name + text) + maxBytes[type];
  });
  return bytes.reduce((total, each) => total + each) > maxFieldBytes;
}

/** @throws {AttemptError} when an attribute has the wrong type. The message has its name and the id of the book. */
export function parseStoredBook(item: Item) {
  return {
    book: item.expiresAt === undefined ? parseBook(item) : undefined,
    /** The version of the last write. `undefined` when another program stored the book. */
    version: typeof item.version === 'string' ? item.version : undefined,
  };
}

/** Reads the fields of a book. A book that is older than a field has the default of the field. */
export function parseBook(item: Item): Book {
  const fields = Object.entries(bookFields).map(([name, field]) => {
    const value = item[name] === undefined ? field.default : item[name];
    if (!kinds[field.type](value)) throw damagedItem(`book ${item.id} has a "${name}" of the wrong type`);
    return [name, value];
  });
  return { id: parseInteger(item.id, 'a book has no id'), ...(Object.fromEntries(fields) as BookFields) };
}
