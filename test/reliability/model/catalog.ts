import type { Book, BookFields } from '../../../lib/books/book.ts';
import { type Outcome, outcomes } from '../../conformance/outcomes.ts';
import type { BookRequest, Login, Precondition } from './book-request.ts';

/** A book with its entity tags. */
interface StoredBook {
  readonly book: Book;
  /** All that it ever had; the last one is the current one. */
  readonly tags: readonly string[];
}

/** What an idempotency key stands for. */
interface UsedKey {
  readonly book: Book;
  readonly tag: string;
}

/** All that the specification lets a service remember. */
export interface Catalog {
  /** The last id that a book got. */
  readonly lastId: number;
  /** How many ids after it may be skipped: a create with a key that another request completes may have drawn one. */
  readonly spareIds: number;
  readonly books: ReadonlyMap<number, StoredBook>;
  readonly keys: ReadonlyMap<string, UsedKey>;
}

/** @param lastId - the last id that was given out before the first request */
export function emptyCatalog(lastId: number): Catalog {
  return { lastId, spareIds: 0, books: new Map(), keys: new Map() };
}

/** What is left to the service: the id and the entity tag of what it makes. */
export interface Chosen {
  readonly id?: number | undefined;
  readonly tag?: string | undefined;
}

/** What a request has to get, and what it makes of the catalog. */
export interface Effect {
  readonly outcome: Outcome;
  readonly data: unknown;
  /** Where a page of the list says that it goes on. */
  readonly nextAfter?: number;
  /** The entity tag of the response. */
  readonly tag?: string | undefined;
  /** Whether the response repeats that of an earlier request. */
  readonly replayed?: boolean;
  readonly catalog: Catalog;
}

/** "Constraints in Amazon DynamoDB": the size of an item. */
const maxBookBytes = 400 * 1024;

const zeroBook: BookFields = { title: '', author: '', year: 0 };

const validKey = /^[!-~]{1,255}$/;
const strongTag = /^"[!#-~]+"$/;

/** Stands in an expected response for a tag that the service did not choose well. */
const freshTag = '(a strong entity tag that the book did not have before)';

/**
 * The specification as a function: docs/specification.md, sections 2 to 12. It shares no code with the service.
 *
 * @param catalog - the state before the request
 * @param request - what a client sends
 * @param chosen - what the service chose
 */
export function applyRequest(catalog: Catalog, request: BookRequest, chosen: Chosen = {}): Effect {
  const response = (outcome: Outcome, data: unknown = null, more: Partial<Effect> = {}): Effect => ({
    outcome,
    data,
    catalog,
    ...more,
  });
  if (request.access === 'missing') return response(outcomes.tokenRequired);
  if (request.access === 'invalid') return response(outcomes.invalidToken);

  if (request.type === 'list') {
    const after = Number(request.after);
    // The one text among those that name no book which is a place in the list.
    if (typeof request.after === 'string' && request.after !== '0') return response(outcomes.invalidInput);
    return listBooks(catalog, request.limit === Number.POSITIVE_INFINITY ? 0 : after, request.limit);
  }
  if (request.type === 'create') return createBook(catalog, request, chosen);

  const id = typeof request.id === 'number' ? request.id : 0;
  const stored = catalog.books.get(id);
  if (stored === undefined) return response(outcomes.bookNotFound);
  const { book, tags } = stored;
  const tag = tags.at(-1) ?? '';
  const { precondition } = request;
  if (request.type === 'get') {
    if (precondition && matches(precondition, tag, 'weak'))
      return response(outcomes.notModified, null, { tag });
    return response(outcomes.bookRetrieved, book, { tag });
  }
  const refused = precondition !== undefined && !matches(precondition, tag, 'strong');
  const books = new Map(catalog.books);
  if (request.type !== 'update') {
    if (refused) return response(outcomes.preconditionFailed);
    books.delete(id);
    return response(outcomes.bookDeleted, null, { catalog: { ...catalog, books } });
  }
  const { fields } = request.body;
  if (fields === undefined) return response(outcomes.invalidInput);
  const changed = { ...book, ...fields };
  if (isTooLarge(changed)) return response(outcomes.payloadTooLarge);
  if (refused) return response(outcomes.preconditionFailed);
  const same = JSON.stringify(changed) === JSON.stringify(book);
  if (Object.keys(fields).length === 0 || (same && chosen.tag === tag)) {
    return response(outcomes.bookUpdated, book, { tag });
  }
  const newTag = takeFresh(chosen.tag, tags);
  books.set(id, { book: changed, tags: [...tags, newTag] });
  return response(outcomes.bookUpdated, changed, { tag: newTag, catalog: { ...catalog, books } });
}

function createBook(
  catalog: Catalog,
  { body, key }: BookRequest & { readonly type: 'create' },
  chosen: Chosen,
): Effect {
  const { fields } = body;
  if (fields === undefined) return { outcome: outcomes.invalidInput, data: null, catalog };
  if (key !== undefined && !validKey.test(key)) {
    return { outcome: outcomes.invalidIdempotencyKey, data: null, catalog };
  }
  const id = chosen.id ?? catalog.lastId + 1;
  const book: Book = { id, ...zeroBook, ...fields };
  if (isTooLarge(book)) return { outcome: outcomes.payloadTooLarge, data: null, catalog };
  const used = key === undefined ? undefined : catalog.keys.get(key);
  if (used !== undefined) {
    const { id: usedId, ...usedFields } = used.book;
    const same = JSON.stringify({ ...usedFields, ...zeroBook, ...fields }) === JSON.stringify(usedFields);
    if (!same) return { outcome: outcomes.idempotencyKeyUsed, data: null, catalog };
    return { outcome: outcomes.bookCreated, data: used.book, tag: used.tag, replayed: true, catalog };
  }
  const tag = takeFresh(chosen.tag, []);
  return {
    outcome: outcomes.bookCreated,
    data: book,
    tag,
    catalog: {
      lastId: Math.max(catalog.lastId, id),
      spareIds: 0,
      books: new Map(catalog.books).set(id, { book, tags: [tag] }),
      keys: key === undefined ? catalog.keys : new Map(catalog.keys).set(key, { book, tag }),
    },
  };
}

/**
 * The outcome of POST /token (specification 5.1 to 5.4); the token itself is for the caller to check.
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
export function describeCatalog({ books, keys }: Catalog): string {
  return JSON.stringify([[...books].sort(([a], [b]) => a - b), [...keys].sort()]);
}

function listBooks(catalog: Catalog, after: number, limit: number): Effect {
  const following = [...catalog.books.values()]
    .map(({ book }) => book)
    .filter(({ id }) => id > after)
    .sort((a, b) => a.id - b.id);
  const data = following.slice(0, limit);
  const last = data.at(-1);
  const effect = { outcome: outcomes.booksRetrieved, data, catalog };
  return last && following.length > limit ? { ...effect, nextAfter: last.id } : effect;
}

/** RFC 9110 sections 8.8.3.2, 13.1.1 and 13.1.2. */
function matches({ strong, weak }: Precondition, tag: string, comparison: 'strong' | 'weak'): boolean {
  return strong === '*' || strong.includes(tag) || (comparison === 'weak' && weak.includes(tag));
}

function takeFresh(tag: string | undefined, earlier: readonly string[]): string {
  return tag !== undefined && strongTag.test(tag) && !earlier.includes(tag) ? tag : freshTag;
}

function isTooLarge({ title, author }: BookFields): boolean {
  return Buffer.byteLength(title) + Buffer.byteLength(author) > maxBookBytes;
}
