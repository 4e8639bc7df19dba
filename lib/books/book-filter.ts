import type { BookFields } from './book.ts';

/** The fields that a list looks for. Without any, it has all books. */
export type BookFilter = Readonly<Partial<BookFields>>;

/** Tells whether a book is one of those that a filter looks for. @param read - gets the value of a field of the book */
export type Matcher = (read: (name: string) => unknown) => boolean;

/**
 * Makes the function that compares a book with a filter (specification 7.9). Each text of the filter has to be a part of
 * the book's text, whatever the case and the accents. Any other value has to be equal.
 *
 * @returns `undefined` when all books match
 */
export function createMatcher(filter: BookFilter = {}): Matcher | undefined {
  const wanted = Object.entries(filter).map(([name, value]) => [name, fold(value)] as const);
  const conditions = wanted.filter(([, value]) => value !== '');
  if (conditions.length === 0) return undefined;
  return (read) =>
    conditions.every(([name, value]) => {
      const found = fold(read(name));
      return typeof found === 'string' ? found.includes(`${value}`) : found === value;
    });
}

/** Takes the accents and the case from a text: `Brontë`, `BRONTE` and a `Brontë` in full-width letters become `bronte`. */
function fold<Value>(value: Value): Value | string {
  if (typeof value !== 'string') return value;
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!/\P{ASCII}/u.test(value)) return value.toLowerCase();
  const letters = value.normalize('NFKD').replace(/\p{Mark}/gu, '');
  // A capital sigma becomes another letter at the end of a word.
  return letters.toLowerCase().replace(/ς/g, 'σ');
}
