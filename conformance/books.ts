import assert from 'node:assert/strict';
import { aBook, type BookFields } from './a-book.ts';
import type { ConformanceContext as Context } from './context.ts';
import { expectOutcome, expectResponse } from './expect.ts';
import type { HttpResponse, RequestHeaders } from './http-client.ts';
import { inParallel } from './in-parallel.ts';
import { type Outcome, outcomes } from './outcomes.ts';

export interface Book extends BookFields {
  readonly id: number;
}

export const dune = aBook({ title: 'Dune', author: 'Frank Herbert', year: 1965 });

/** A page of the largest books takes 20 s at the rate at which Lambda streams. */
const pageLength = 100;

/** Creates a book and checks the response. */
export async function createBook(context: Context, fields: Partial<BookFields> = {}): Promise<Book> {
  const wanted = { ...dune, ...fields };
  return expectCreated(await context.call('POST', '/book', wanted), wanted);
}

/** Creates books whose years count from 0. @returns them in the order of their ids */
export async function createBooks(
  context: Context,
  count: number,
  atOnce: number,
  fields: Partial<BookFields> = {},
): Promise<readonly Book[]> {
  const books = await inParallel(count, atOnce, (year) => createBook(context, { ...fields, year }));
  return books.sort((a, b) => a.id - b.id);
}

/** Checks the response to the creation of a book with these fields, and the defaults of all others. */
export function expectCreated(response: HttpResponse, given: Partial<BookFields>): Book {
  const fields = aBook(given);
  const book = expectOutcome(response, outcomes.bookCreated) as Book | null;
  const id = book?.id ?? Number.NaN;
  assert.deepEqual(book, { id, ...fields }, 'the created book');
  assert.ok(Number.isSafeInteger(id) && id > 0, `the id of a created book is an integer above 0, got ${id}`);
  return { id, ...fields };
}

/** Checks that the service holds a book exactly as given. */
export async function expectStored(context: Context, book: Book): Promise<void> {
  expectResponse(await context.call('GET', `/book/${book.id}`), outcomes.bookRetrieved, book);
}

/** Checks that a body creates a book, and changes {@link dune} to the same. @returns the responses */
export async function expectWritten(
  context: Context,
  body: unknown,
  given: BookFields,
  headers?: RequestHeaders,
): Promise<readonly HttpResponse[]> {
  const fields = aBook(given);
  const created = await context.call('POST', '/book', body, headers);
  await expectStored(context, expectCreated(created, fields));
  const { id } = await createBook(context);
  const updated = await context.call('PUT', `/book/${id}`, body, headers);
  expectResponse(updated, outcomes.bookUpdated, { id, ...fields });
  await expectStored(context, { id, ...fields });
  return [created, updated];
}

/** Checks that POST and PUT refuse a body, and that the book does not change. */
export async function expectRefused(
  context: Context,
  body: unknown,
  outcome: Outcome,
  headers?: RequestHeaders,
): Promise<void> {
  const book = await createBook(context);
  expectResponse(await context.call('POST', '/book', body, headers), outcome);
  expectResponse(await context.call('PUT', `/book/${book.id}`, body, headers), outcome);
  await expectStored(context, book);
}

export async function expectMissing(context: Context, id: number): Promise<void> {
  expectResponse(await context.call('GET', `/book/${id}`), outcomes.bookNotFound);
}

/** Checks that the list holds these books by this author and no other. */
export async function expectListed(context: Context, author: string, books: readonly Book[]): Promise<void> {
  const listed = (await listBooks(context)).filter((book) => book.author === author);
  assert.deepEqual(listed, books, `books by "${author}" in the list`);
}

export async function deleteBook(context: Context, id: number): Promise<void> {
  expectResponse(await context.call('DELETE', `/book/${id}`), outcomes.bookDeleted);
}

/** @returns the id of a deleted book */
export async function createMissingId(context: Context): Promise<number> {
  const { id } = await createBook(context);
  await deleteBook(context, id);
  return id;
}

/** Lists all books and checks their order and shape; in a large catalog those of this run and later ones, in pages. */
export async function listBooks(context: Context): Promise<readonly Book[]> {
  if (context.listStart === undefined) return expectBooks(await context.call('GET', '/books'));
  const books: Book[] = [];
  for (;;) {
    const after = books.at(-1)?.id ?? context.listStart;
    const page = expectBooks(await context.call('GET', `/books?limit=${pageLength}&after=${after}`));
    books.push(...page);
    if (page.length < pageLength) return books;
  }
}

/** The path of a list with the books of this run: all books, or a page of a large catalog. */
export function listPath({ listStart }: Context): string {
  return listStart === undefined ? '/books' : `/books?limit=1000&after=${listStart}`;
}

const memberTypes = [['id', 0] as const, ...Object.entries(dune)]
  .map(([name, value]) => `${name} ${typeof value}`)
  .sort();

/** Checks that a response is a list of books in ascending order of their ids. */
export function expectBooks(response: HttpResponse): readonly Book[] {
  const books = expectOutcome(response, outcomes.booksRetrieved) as readonly Book[];
  assert.ok(Array.isArray(books), `the data of a list is an array, got ${JSON.stringify(books)}`);
  let previous = 0;
  for (const book of books) {
    const types = Object.entries(book)
      .map(([name, value]) => `${name} ${typeof value}`)
      .sort();
    assert.deepEqual(types, memberTypes, 'a listed book');
    assert.ok(book.id > previous, `the ids of a list ascend, got ${book.id} after ${previous}`);
    previous = book.id;
  }
  return books;
}

/** Finds books by id in a list with books of others. */
export function pickBooks(books: readonly Book[], wanted: readonly Pick<Book, 'id'>[]): readonly Book[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return books.filter(({ id }) => ids.has(id));
}

/** Checks that the list holds each of the given books once and unchanged. */
export async function expectInList(context: Context, books: readonly Book[]): Promise<void> {
  assert.deepEqual(pickBooks(await listBooks(context), books), books, 'own books in the list');
}
