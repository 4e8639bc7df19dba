import type { HttpResponse } from '../support/http-client.ts';
import type { ConformanceContext } from './context.ts';
import { expectAnswer, expectOutcome } from './envelope.ts';
import { expectEqual, expectTrue } from './expectation.ts';
import { outcomes } from './outcomes.ts';

/** What a client supplies about a book. */
export interface BookFields {
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

/** A book as the service shows it. */
export interface Book extends BookFields {
  readonly id: number;
}

const someFields: BookFields = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

/**
 * Creates a book and checks the whole answer.
 *
 * @param context - the case's context
 * @param fields - its fields; those that do not matter may be left out
 * @returns the book as the service shows it
 */
export async function createBook(
  context: ConformanceContext,
  fields: Partial<BookFields> = {},
): Promise<Book> {
  const wanted = { ...someFields, ...fields };
  return expectCreated(await context.call('POST', '/book', wanted), wanted);
}

/**
 * Checks that an answer says that a book with these fields was created.
 *
 * @param answer - the answer to POST /book
 * @param fields - the fields that it should have
 */
export function expectCreated(answer: HttpResponse, fields: BookFields): Book {
  const book = expectOutcome(answer, outcomes.bookCreated) as Book | null;
  expectEqual('the created book', book, { id: book?.id, ...fields });
  const id = book?.id ?? Number.NaN;
  expectTrue('the id of the created book', Number.isSafeInteger(id) && id > 0, 'an integer above 0', id);
  return { id, ...fields };
}

/**
 * Checks that the service holds a book exactly as given.
 *
 * @param context - the case's context
 * @param book - the book as it should be
 */
export async function expectStored(context: ConformanceContext, book: Book): Promise<void> {
  expectAnswer(await context.call('GET', `/book/${book.id}`), outcomes.bookRetrieved, book);
}

/**
 * Checks that no book has this id.
 *
 * @param context - the case's context
 * @param id - an id
 */
export async function expectMissing(context: ConformanceContext, id: number): Promise<void> {
  expectAnswer(await context.call('GET', `/book/${id}`), outcomes.bookNotFound);
}

/**
 * Deletes a book.
 *
 * @param context - the case's context
 * @param id - its id
 */
export async function deleteBook(context: ConformanceContext, id: number): Promise<void> {
  expectAnswer(await context.call('DELETE', `/book/${id}`), outcomes.bookDeleted);
}

/**
 * Makes an id that surely names no book: that of a book that is gone.
 *
 * @param context - the case's context
 */
export async function createMissingId(context: ConformanceContext): Promise<number> {
  const { id } = await createBook(context);
  await deleteBook(context, id);
  return id;
}

/** A page of the largest books takes 20 s at the rate at which Lambda streams. */
const pageLength = 100;

/**
 * Lists books and checks the order and the shape of all of them, whoever made them. In a large catalog these are the
 * books of this run and whatever came after them, read in pages.
 *
 * @param context - the case's context
 */
export async function listBooks(context: ConformanceContext): Promise<readonly Book[]> {
  if (context.listStart === undefined) return expectBooks(await context.call('GET', '/books'));
  const books: Book[] = [];
  for (;;) {
    const after = books.at(-1)?.id ?? context.listStart;
    const page = expectBooks(await context.call('GET', `/books?limit=${pageLength}&after=${after}`));
    books.push(...page);
    if (page.length < pageLength) return books;
  }
}

/**
 * The path of a list that holds the books of this run: of all books, or in a large catalog of a page.
 *
 * @param context - the case's context
 */
export function listPath({ listStart }: ConformanceContext): string {
  return listStart === undefined ? '/books' : `/books?limit=1000&after=${listStart}`;
}

/**
 * Checks that an answer is a list of books in ascending order of their ids.
 *
 * @param answer - the answer to GET /books
 */
export function expectBooks(answer: HttpResponse): readonly Book[] {
  const data = expectOutcome(answer, outcomes.booksRetrieved);
  expectTrue('the data of the list', Array.isArray(data), 'an array', data);
  const books = data as readonly Book[];
  const misshapen = books.find((book) => !isBook(book));
  expectTrue('a listed book', misshapen === undefined, 'id, title, author and year, no more', misshapen);
  const ids = books.map(({ id }) => id);
  const misplaced = ids.find((id, index) => id <= (ids[index - 1] ?? 0));
  expectTrue('the ids of the list', misplaced === undefined, 'each above the one before', { misplaced });
  return books;
}

/**
 * Picks books out of a list that others may have added to.
 *
 * @param books - the list
 * @param wanted - the books to look for, by id
 */
export function pickBooks(books: readonly Book[], wanted: readonly Pick<Book, 'id'>[]): readonly Book[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return books.filter(({ id }) => ids.has(id));
}

function isBook(value: Book | null): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    Object.keys(value).sort().join() === 'author,id,title,year' &&
    typeof value.title === 'string' &&
    typeof value.author === 'string' &&
    Number.isSafeInteger(value.year) &&
    Number.isSafeInteger(value.id)
  );
}
