import { type Book, type BookFields, bookFields } from '../books/book.ts';
import { type Kind, kinds } from '../fields.ts';
import { AttemptError } from './errors.ts';

export type Item = Readonly<Record<string, unknown>>;

/** The item of a book, or what a deletion left of it: no book. */
export type StoredBook = Readonly<ReturnType<typeof parseStoredBook>>;

/** How each kind of field is stored: the start of its JSON, which no other type has, and its bytes besides those of a text. */
export const storedKinds: Readonly<Record<Kind, { readonly json: RegExp; readonly maxBytes: number }>> = {
  string: { json: /"/, maxBytes: 0 },
  // With more digits, a number may not be a safe integer.
  integer: { json: /-?\d{1,15}\s*[,}]/, maxBytes: 21 },
  boolean: { json: /[tf]/, maxBytes: 1 },
};

/** "DynamoDB item sizes and formats": an item has 400 KB with the names of its attributes, the token and the keys 100. */
const maxFieldBytes = 400 * 1024 - 100;

/** Whether a book with these fields cannot be stored, because the item would be too large. */
export function isTooLarge(fields: Partial<BookFields>): boolean {
  const bytes = Object.entries(bookFields).map(([name, { type }]) => {
    const value = fields[name as keyof BookFields];
    const text = typeof value === 'string' ? value : '';
    return Buffer.byteLength(name + text) + storedKinds[type].maxBytes;
  });
  return bytes.reduce((total, each) => total + each) > maxFieldBytes;
}

/** Makes placeholders: some names, such as "year", are reserved words of DynamoDB's expressions. */
export function attributeNames(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`#${name}`, name]));
}

/** @throws {AttemptError} when an attribute has the wrong type, with its name and the id */
export function parseStoredBook(item: Item) {
  return {
    book: item.expiresAt === undefined ? parseBook(item) : undefined,
    /** The token of the last write; absent when another program stored the book. */
    version: typeof item.writeToken === 'string' ? item.writeToken : undefined,
  };
}

/** Reads the fields of a book. One that was stored before the table of fields had a field has the field's default. */
export function parseBook(item: Item): Book {
  const fields = Object.entries(bookFields).map(([name, field]) => {
    const value = item[name] === undefined ? field.default : item[name];
    if (!kinds[field.type](value)) throw damaged(`book ${item.id} has a "${name}" of the wrong type`);
    return [name, value];
  });
  return { id: parseInteger(item.id, 'a book has no id'), ...(Object.fromEntries(fields) as BookFields) };
}

/** @returns the last id that was drawn @throws {AttemptError} when it is less than the minimum, or missing */
export function parseCounter({ lastId }: Item, minimum = 0): number {
  return parseInteger(lastId, 'the counter has no "lastId"', minimum);
}

/** @throws {AttemptError} with the problem when a value is not a safe integer, or less than the minimum */
export function parseInteger(value: unknown, problem: string, minimum = Number.MIN_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || Number(value) < minimum) throw damaged(problem);
  return value as number;
}

/** @throws {AttemptError} with the problem when a value is not a text */
export function parseText(value: unknown, problem: string): string {
  if (typeof value !== 'string') throw damaged(problem);
  return value;
}

/** A response may be damaged on its way, so another attempt is worth it. */
function damaged(problem: string): AttemptError {
  return new AttemptError(`a stored item is damaged: ${problem}`, { mayBeDone: true });
}
