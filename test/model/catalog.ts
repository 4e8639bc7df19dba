import type { Book, BookFields } from '../../lib/books/book.ts';
import { type Outcome, outcomes } from '../conformance/outcomes.ts';
import type { BookRequest, Login } from './book-request.ts';

/** The books, and the last id that was given out: all that the specification lets a service remember. */
export interface Catalog {
  readonly lastId: number;
  readonly books: ReadonlyMap<number, Book>;
}

/** What a request has to be answered with, and what it makes of the catalog. */
export interface Effect {
  readonly outcome: Outcome;
  readonly data: unknown;
  /** Where a page of the list says that it goes on. */
  readonly nextAfter?: number;
  readonly catalog: Catalog;
}

/** "Constraints in Amazon DynamoDB": the size of an item. */
const maxBookBytes = 400 * 1024;

const zeroBook: BookFields = { title: '', author: '', year: 0 };

/**
 * The specification as a function: SPEC.md sections 4 and 5, and DESIGN.md part 1 where they are silent. It shares no
 * code with the service.
 *
 * @param catalog - the state before the request
 * @param request - what a client sends
 * @param newId - the id that a new book gets
 */
export function applyRequest(
  catalog: Catalog,
  request: BookRequest,
  newId: number = catalog.lastId + 1,
): Effect {
  const answer = (outcome: Outcome, data: unknown = null, changed: Catalog = catalog): Effect => ({
    outcome,
    data,
    catalog: changed,
  });
  if (request.access === 'missing') return answer(outcomes.tokenRequired);
  if (request.access === 'invalid') return answer(outcomes.invalidToken);

  if (request.type === 'list') {
    const after = Number(request.after);
    // The one text among those that name no book which is a place in the list.
    if (typeof request.after === 'string' && request.after !== '0') return answer(outcomes.invalidInput);
    return listBooks(catalog, request.limit === Number.POSITIVE_INFINITY ? 0 : after, request.limit);
  }
  if (request.type === 'create') {
    const { fields } = request.body;
    if (fields === undefined) return answer(outcomes.invalidInput);
    const book: Book = { id: newId, ...zeroBook, ...fields };
    if (isTooLarge(book)) return answer(outcomes.payloadTooLarge);
    const books = new Map(catalog.books).set(newId, book);
    return answer(outcomes.bookCreated, book, { lastId: Math.max(catalog.lastId, newId), books });
  }

  const id = typeof request.id === 'number' ? request.id : 0;
  const book = catalog.books.get(id);
  if (book === undefined) return answer(outcomes.bookNotFound);
  if (request.type === 'get') return answer(outcomes.bookRetrieved, book);
  const books = new Map(catalog.books);
  if (request.type !== 'update') {
    books.delete(id);
    return answer(outcomes.bookDeleted, null, { ...catalog, books });
  }
  const { fields } = request.body;
  if (fields === undefined) return answer(outcomes.invalidInput);
  const changed = { ...book, ...fields };
  if (isTooLarge(changed)) return answer(outcomes.payloadTooLarge);
  return answer(outcomes.bookUpdated, changed, { ...catalog, books: books.set(id, changed) });
}

/**
 * What POST /token answers (SPEC.md section 4); the token itself is for the caller to check.
 *
 * @param login - what the body means
 */
export function outcomeOfLogin({ credentials }: Login): Outcome {
  if (credentials === 'unreadable') return outcomes.invalidRequestPayload;
  return credentials === 'right' ? outcomes.tokenGenerated : outcomes.invalidCredentials;
}

/**
 * @param catalog - a state
 * @returns a text that only equal states have
 */
export function describeCatalog({ books }: Catalog): string {
  return JSON.stringify([...books.values()].sort((a, b) => a.id - b.id));
}

function listBooks(catalog: Catalog, after: number, limit: number): Effect {
  const following = [...catalog.books.values()].filter(({ id }) => id > after).sort((a, b) => a.id - b.id);
  const data = following.slice(0, limit);
  const last = data.at(-1);
  const effect = { outcome: outcomes.booksRetrieved, data, catalog };
  return last && following.length > limit ? { ...effect, nextAfter: last.id } : effect;
}

function isTooLarge({ title, author }: BookFields): boolean {
  return Buffer.byteLength(title) + Buffer.byteLength(author) > maxBookBytes;
}
