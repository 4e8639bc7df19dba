import { getOperation } from '../../../conformance/contract/description.ts';
import { type Outcome, outcomes } from '../../../conformance/outcomes.ts';
import type { Book, BookFields } from '../../../lib/books/book.ts';
import { aBook } from '../../support/a-book.ts';
import type { AnyRequest, Precondition } from './requests.ts';

/** The state of the specified service. */
export interface State {
  /** The last assigned id. */
  readonly lastId: number;
  /** Books with all their entity tags, the current one last. */
  readonly books: ReadonlyMap<number, { readonly book: Book; readonly tags: readonly string[] }>;
  /** The request of each idempotency key. */
  readonly keys: ReadonlyMap<string, { readonly book: Book; readonly tag: string }>;
}

/** The expected response of a request, and the state after it. */
export interface Effect {
  readonly outcome: Outcome;
  readonly data: unknown;
  /** The cursor of the next page. */
  readonly nextAfter?: number | undefined;
  /** The entity tag of the response. */
  readonly tag?: string | undefined;
  /** Whether the response repeats that of an earlier request. */
  readonly replayed?: boolean;
  readonly state: State;
}

/** "Constraints in Amazon DynamoDB": the size of an item. */
const maxBookBytes = 400 * 1024;

const validKey = /^[!-~]{1,255}$/;
const strongTag = /^"[!#-~]+"$/;

const successOf = (route: string) => getOperation(route).success as Outcome;

/** In an expected response: a tag that the service chose wrongly. */
const freshTag = '(a strong entity tag that the book did not have before)';

/**
 * The specification as a function: docs/specification.md, sections 2 to 12. It shares no code with the service. Requests come one
 * after the other; check-history.ts judges concurrent ones.
 *
 * @param state - the state before the request
 * @param chosenTag - the entity tag that the service chose
 */
export function applyRequest(state: State, request: AnyRequest, chosenTag: unknown): Effect {
  const { type, access, precondition } = request;
  const respond = (outcome: Outcome, data: unknown = null, more: Partial<Effect> = {}): Effect => {
    return { outcome, data, state, ...more };
  };
  if (access === 'missing') return respond(outcomes.tokenRequired);
  if (access === 'invalid') return respond(outcomes.invalidToken);
  if (type === 'create') return createBook(state, request, chosenTag);
  if (type === 'list') {
    // '0' is no id and yet a valid cursor.
    if (typeof request.id === 'string' && request.id !== '0') return respond(outcomes.invalidInput);
    const following = [...state.books.values()]
      .map(({ book }) => book)
      .filter(({ id }) => id > Number(request.id))
      .sort((a, b) => a.id - b.id);
    const data = following.slice(0, request.limit);
    const nextAfter = following.length > request.limit ? data.at(-1)?.id : undefined;
    return respond(successOf('GET /books'), data, { nextAfter });
  }

  const id = Number(request.id);
  const stored = state.books.get(typeof request.id === 'string' ? 0 : id);
  if (stored === undefined) return respond(outcomes.bookNotFound);
  const { book, tags } = stored;
  const tag = tags.at(-1) ?? '';
  if (type === 'get') {
    const isKnown = precondition !== undefined && matches(precondition, tag, 'weak');
    return isKnown ? respond(outcomes.notModified, null, { tag }) : respond(successOf('GET /book/{id}'), book, { tag });
  }
  const isRefused = precondition !== undefined && !matches(precondition, tag, 'strong');
  const books = new Map(state.books);
  if (type === 'delete') {
    if (isRefused) return respond(outcomes.preconditionFailed);
    books.delete(id);
    return respond(successOf('DELETE /book/{id}'), null, { state: { ...state, books } });
  }
  const { fields } = request.body;
  if (fields === undefined) return respond(outcomes.invalidInput);
  const changed = { ...book, ...fields };
  if (isTooLarge(changed)) return respond(outcomes.payloadTooLarge);
  if (isRefused) return respond(outcomes.preconditionFailed);
  const isSame = JSON.stringify(changed) === JSON.stringify(book);
  if (Object.keys(fields).length === 0 || (isSame && chosenTag === tag)) {
    return respond(successOf('PUT /book/{id}'), book, { tag });
  }
  const newTag = takeFresh(chosenTag, tags);
  books.set(id, { book: changed, tags: [...tags, newTag] });
  return respond(successOf('PUT /book/{id}'), changed, { tag: newTag, state: { ...state, books } });
}

function createBook(state: State, { body: { fields }, key }: AnyRequest, chosenTag: unknown): Effect {
  const refuse = (outcome: Outcome): Effect => ({ outcome, data: null, state });
  if (fields === undefined) return refuse(outcomes.invalidInput);
  if (key !== undefined && !validKey.test(key)) return refuse(outcomes.invalidIdempotencyKey);
  const id = state.lastId + 1;
  const book: Book = { id, ...aBook(), ...fields };
  if (isTooLarge(book)) return refuse(outcomes.payloadTooLarge);
  const used = key === undefined ? undefined : state.keys.get(key);
  if (used !== undefined) {
    const { id: _, ...usedFields } = used.book;
    // A repeated create has drawn an id.
    const repeated = { ...state, lastId: id };
    const isSame = JSON.stringify({ ...usedFields, ...aBook(), ...fields }) === JSON.stringify(usedFields);
    if (!isSame) return { outcome: outcomes.idempotencyKeyUsed, data: null, state: repeated };
    return { outcome: successOf('POST /book'), data: used.book, tag: used.tag, replayed: true, state: repeated };
  }
  const tag = takeFresh(chosenTag, []);
  const books = new Map(state.books).set(id, { book, tags: [tag] });
  const keys = key === undefined ? state.keys : new Map(state.keys).set(key, { book, tag });
  return { outcome: successOf('POST /book'), data: book, tag, state: { lastId: id, books, keys } };
}

/** RFC 9110 sections 8.8.3.2, 13.1.1 and 13.1.2. */
function matches({ strong, weak }: Precondition, tag: string, comparison: 'strong' | 'weak'): boolean {
  return strong === '*' || strong.includes(tag) || (comparison === 'weak' && weak.includes(tag));
}

function takeFresh(tag: unknown, earlier: readonly string[]): string {
  return typeof tag === 'string' && strongTag.test(tag) && !earlier.includes(tag) ? tag : freshTag;
}

function isTooLarge(fields: BookFields): boolean {
  const texts = Object.values(fields).filter((value) => typeof value === 'string');
  return Buffer.byteLength(texts.join('')) > maxBookBytes;
}
