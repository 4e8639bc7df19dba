import { createBook, deleteBook, expectBooks } from './book-steps.ts';
import type { ConformanceContext } from './context.ts';

const pageLength = 100;

/** What a case may read in a moment, again and again. A stream from Lambda is slow from 6 MB on. */
const maxListBytes = 1_000_000;
const maxPages = 10;

/**
 * Finds out whether the whole catalog is small enough to be read by each case that lists books.
 *
 * @param context - the context of the run
 * @returns `undefined` when it is, otherwise an id before those of all books that are created from now on
 */
export async function findListStart(context: ConformanceContext): Promise<number | undefined> {
  let bytes = 0;
  let after = '';
  for (let page = 1; page <= maxPages && bytes <= maxListBytes; page += 1) {
    const answer = await context.call('GET', `/books?limit=${pageLength}${after}`);
    const books = expectBooks(answer);
    bytes += answer.body.length;
    if (books.length < pageLength && bytes <= maxListBytes) return undefined;
    after = `&after=${books.at(-1)?.id}`;
    if (books.length < pageLength) break;
  }
  const { id } = await createBook(context);
  await deleteBook(context, id);
  return id;
}
