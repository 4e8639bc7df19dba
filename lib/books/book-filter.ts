import { type BookFields, bookFields } from './book.ts';
import { createSearch } from './search/words.ts';

/** What a list looks for: values of fields, and `q`, words in any of the texts. Without any, it has all books. */
export type BookFilter = Readonly<Partial<BookFields> & { q?: string }>;

/** Tells whether a book is one of those that a filter looks for. @param read - gets the value of a field of the book */
export type BookPredicate = (read: (name: string) => unknown) => boolean;

/**
 * Makes the function that compares a book with a filter (specification 7.9). A text has to have each word of the filter.
 * Any other value has to be equal.
 *
 * @returns `undefined` when all books match
 */
export function createPredicate(filter: BookFilter = {}): BookPredicate | undefined {
  const conditions = Object.entries(filter).flatMap(([name, value]) => {
    if (typeof value !== 'string') return [(read) => read(name) === value] satisfies BookPredicate[];
    const hasWords = createSearch(value);
    return hasWords ? ([(read) => hasWords(readText(name, read))] satisfies BookPredicate[]) : [];
  });
  return conditions.length === 0 ? undefined : (read) => conditions.every((matches) => matches(read));
}

const textNames = Object.entries(bookFields).flatMap(([name, { type }]) => (type === 'string' ? name : []));

/** A line feed ends each text of a book, so that no word is found across the end. */
function readText(name: string, read: Parameters<BookPredicate>[0]): string {
  return name === 'q' ? textNames.map(read).join('\n') : String(read(name));
}
