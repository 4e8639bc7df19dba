import { isDeepStrictEqual } from 'node:util';
import type { Book, BookFields } from '../../lib/books/book.ts';
import type { BookFilter } from '../../lib/books/book-filter.ts';
import { findOrder, type Interval } from './find-order.ts';

/** What a client asks of the books. */
export type BookRequest =
  /** Its title is that of no other book. Creates with the same title have the same idempotency key. */
  | { readonly type: 'create'; readonly fields: BookFields; readonly key?: string | undefined }
  /** With a filter, of which the book may be no part: what a list without the book says. */
  | { readonly type: 'get'; readonly id: number; readonly filter?: BookFilter | undefined }
  | {
      readonly type: 'update';
      readonly id: number;
      readonly changes: Partial<BookFields>;
      readonly ifMatch?: readonly string[] | undefined;
    }
  | { readonly type: 'delete'; readonly id: number; readonly ifMatch?: readonly string[] | undefined }
  /** The whole list, or a page of it, or the books of a filter. */
  | { readonly type: 'list'; readonly after?: number; readonly limit?: number; readonly filter?: BookFilter };

/** A response. `returned` is Infinity when it was lost, or a 503. */
interface Response extends Interval {
  /** 0 when the connection broke. */
  readonly status: number;
  readonly book?: Book | undefined;
  readonly books?: readonly Book[] | undefined;
  /** After which id the next page begins; `null` when the response says that no books follow. */
  readonly continueAfter?: number | null | undefined;
  readonly tag?: string | undefined;
  /** Whether the response is that of an earlier create. */
  readonly replayed?: boolean | undefined;
  /** Carried out late, the request may not undo writes that began after this moment. */
  readonly deadline?: number | undefined;
}

/** An operation of a client: a request and its response. */
export type Operation = BookRequest & Response;

type OfType<Type extends BookRequest['type']> = Extract<Operation, { type: Type }>;
type OneBook = Exclude<Operation, { type: 'list' }>;

/** A stored book, its entity tag if a response showed it, and when the youngest of its writes began. */
interface Stored {
  readonly book: Book;
  readonly tag: string | undefined;
  readonly isNew: boolean;
  readonly lastBegan: number;
}

/** The states of a book: not yet created, stored, deleted. */
type Life = Stored | 'not yet' | 'no more';

/** The limit of DynamoDB. The texts of a test are far from it. */
const maxItemBytes = 400 * 1024;

const regularStatuses: Readonly<Record<Operation['type'], readonly number[]>> = {
  create: [201],
  get: [200, 404],
  update: [200, 400, 404, 412, 413],
  delete: [200, 404, 412],
  list: [200],
};

function hasResponse({ status }: Operation): boolean {
  return status !== 0 && status !== 503;
}

/**
 * Compares responses with the stored books, like Jepsen's set and register tests: an acknowledged book exists until its
 * deletion, nobody sees a book that nobody created, no id is used twice, no create is carried out twice, no entity tag
 * names two contents, and the reads and writes of each book are linearizable.
 *
 * @param operations - the operations of all clients; the last ones read all books
 * @returns the violations as sentences
 */
export function checkHistory(operations: readonly Operation[]): string[] {
  const ofBooks = operations.filter((operation) => operation.type !== 'list');
  const lists = operations.filter((operation) => operation.type === 'list').filter(hasResponse);
  return [
    ...checkStatuses(operations),
    ...lists.flatMap(checkList),
    ...checkTags(ofBooks),
    ...checkLives(ofBooks, lists),
  ];
}

function checkStatuses(operations: readonly Operation[]): string[] {
  return operations
    .filter(hasResponse)
    .filter(({ type, status }) => !regularStatuses[type].includes(status))
    .map(({ type, status }) => `a request to ${type} got ${status}`);
}

/** A list ascends from its beginning, and its books match. A page ends at the limit, and where the next one begins. */
function checkList({ books = [], after = 0, limit = Infinity, continueAfter, filter }: OfType<'list'>): string[] {
  const isBeyond = books.length > limit || (books.at(-1)?.id ?? 0) > (continueAfter ?? Infinity);
  const disorder = books
    .filter(({ id }, index) => id <= (books[index - 1]?.id ?? after))
    .map(({ id }) => `a list is not in ascending order, or has a book twice, at id ${id}`);
  const others = books
    .filter((book) => !matches(book, filter))
    .map(({ id }) => `a list has book ${id} of another kind`);
  return [...disorder, ...others, ...(isBeyond ? [`a page of ${limit} books has more than these`] : [])];
}

/** Whether a book is in a list with this filter. The texts of a test are in lower case, without accents. */
function matches(book: Book, filter: BookFilter = {}): boolean {
  return Object.entries(filter).every(([name, value]) => {
    const found = book[name as keyof Book];
    return typeof found === 'string' ? found.includes(`${value}`) : found === value;
  });
}

/** No entity tag is that of two contents. */
function checkTags(operations: readonly OneBook[]): string[] {
  const contents = new Map<string, Book>();
  return operations.flatMap(({ book, tag }) => {
    if (book === undefined || tag === undefined) return [];
    const earlier = contents.get(tag) ?? book;
    contents.set(tag, earlier);
    return isDeepStrictEqual(earlier, book) ? [] : [`two contents have the tag ${tag}`];
  });
}

/** Of books that only a create without a response may have made. */
const unknownId = 0;

/** The operations on each book have an order that explains them. Of two books with one title, one has no create. */
function checkLives(operations: readonly OneBook[], lists: readonly OfType<'list'>[]): string[] {
  const shown = [...operations.flatMap(({ book = [] }) => book), ...lists.flatMap(({ books = [] }) => books)];
  const idOfTitle = new Map(shown.map(({ id, title }) => [title, id]));
  const byId = Map.groupBy(operations, (operation) =>
    operation.type === 'create' ? (idOfTitle.get(operation.fields.title) ?? unknownId) : operation.id,
  );
  const ids = new Set([...byId.keys(), ...shown.map(({ id }) => id)]);
  ids.delete(unknownId);
  return [...ids].flatMap((id) => {
    const itsOperations = byId.get(id) ?? [];
    const firstKnown = Math.min(...itsOperations.map(({ invoked }) => invoked));
    const history = [
      // A create without a response, whose book nobody has read, may have made the book that a deletion found.
      ...(itsOperations.some(({ type }) => type === 'create') ? [] : (byId.get(unknownId) ?? [])),
      ...itsOperations.filter((operation) => hasResponse(operation) || operation.type !== 'get'),
      ...lists.flatMap((list) => readIn(list, id, firstKnown)),
    ];
    if (hasOrder(history)) return [];
    return [`no order of the operations on book ${id} explains the responses:\n${describe(history)}`];
  });
}

function hasOrder(history: readonly OneBook[]): boolean {
  const describeLife = (life: Life) => JSON.stringify(life);
  return findOrder<Life, OneBook>('not yet', history, applyOperation, describeLife) !== undefined;
}

/** What a list says of a book. One before the create needs no explanation. */
function readIn(list: OfType<'list'>, id: number, firstKnown: number): readonly OneBook[] {
  const { after = 0, limit = Number.POSITIVE_INFINITY, books = [], continueAfter, filter, invoked, returned } = list;
  const unknownEnd = books.length < limit ? Number.POSITIVE_INFINITY : (books.at(-1)?.id ?? 0);
  const end = continueAfter === undefined ? unknownEnd : (continueAfter ?? Number.POSITIVE_INFINITY);
  if (id <= after || id > end) return [];
  const book = books.find((listed) => listed.id === id);
  const isEarly = book === undefined && returned <= firstKnown;
  return isEarly ? [] : [{ type: 'get', id, filter, invoked, returned, status: book ? 200 : 404, book }];
}

/** The specification of one book, under concurrent requests. */
function applyOperation(life: Life, operation: OneBook): Life | undefined {
  const stored = typeof life === 'object' ? life : undefined;
  const { status, tag, invoked, deadline = Number.POSITIVE_INFINITY } = operation;
  const responded = hasResponse(operation);
  if (operation.type === 'create') {
    // Only reads show the id of a book whose create had no response.
    const book = { id: operation.book?.id ?? 0, ...operation.fields };
    if (responded && !isDeepStrictEqual(operation.book, book)) return undefined;
    if (!operation.replayed) return life === 'not yet' ? { book, tag, isNew: true, lastBegan: invoked } : undefined;
    // The first response, which had the tag, may have been lost.
    if (stored?.isNew && stored.tag === undefined) return { ...stored, tag };
    return life === 'not yet' ? undefined : life;
  }
  const isListed = operation.type !== 'get' || (stored && matches(stored.book, operation.filter));
  if (status === 404) return stored && isListed ? undefined : life;
  if (stored === undefined) return undefined;
  if (operation.type === 'get') {
    const isSame = tag === undefined || stored.tag === undefined || tag === stored.tag;
    if (!isSame || !equalButForId(operation.book, stored.book)) return undefined;
    return tag === stored.tag || tag === undefined ? stored : { ...stored, tag };
  }
  const isInvalid = operation.type === 'update' && !Number.isInteger(operation.changes.year ?? 0);
  if (isInvalid || status === 400) return isInvalid && status === 400 ? stored : undefined;
  const book = { ...stored.book, ...(operation.type === 'update' && operation.changes) };
  const isTooLarge = book.title.length + book.author.length > maxItemBytes;
  if (isTooLarge || status === 413) return isTooLarge && status === 413 ? stored : undefined;
  const isRefused = operation.ifMatch?.includes(stored.tag ?? '') === false;
  if (status === 412) return isRefused ? stored : undefined;
  if (isRefused || (!responded && stored.lastBegan > deadline)) return undefined;
  if (operation.type === 'delete') return 'no more';
  // The response to an update may be unknown although it was carried out.
  if (operation.book !== undefined && !equalButForId(operation.book, book)) return undefined;
  return { book, tag, isNew: false, lastBegan: Math.max(stored.lastBegan, invoked) };
}

function equalButForId(told: Book | undefined, book: Book): boolean {
  return isDeepStrictEqual(told && { ...told, id: 0 }, { ...book, id: 0 });
}

function describe(history: readonly OneBook[]): string {
  const inOrder = history.toSorted((a, b) => a.invoked - b.invoked);
  return inOrder.map((operation) => JSON.stringify(operation)).join('\n');
}
