import { isDeepStrictEqual } from 'node:util';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { findOrder, type Interval } from './find-order.ts';

/** What a client asks of one book. */
export type BookRequest =
  /** The title is unique, and no update changes it. Creates with the same title have the same idempotency key. */
  | { readonly type: 'create'; readonly fields: BookFields }
  | { readonly type: 'get'; readonly id: number }
  | { readonly type: 'update'; readonly id: number; readonly changes: Partial<Omit<BookFields, 'title'>> }
  | { readonly type: 'delete'; readonly id: number };

/** An operation of a client and its response. `returned` is Infinity for a lost response or a 503. */
export type Operation = Interval & {
  /** The status of the response; 0 when the connection broke. */
  readonly status: number;
} & (
    | (BookRequest & {
        /** The entity tags that the book may have. */
        readonly ifMatch?: readonly string[] | undefined;
        readonly book?: Book | undefined;
        readonly tag?: string | undefined;
        /** Whether the response is that of an earlier create. */
        readonly replayed?: boolean | undefined;
        /** Carried out late, it may not undo writes that began after this moment. */
        readonly deadline?: number | undefined;
      })
    /** Counts as a read of every book. */
    | { readonly type: 'list'; readonly books: readonly Book[] }
  );

export type OneBook = Exclude<Operation, { type: 'list' }>;

/** A stored book, its entity tag if a response showed it, and when its last two writes began. */
interface Stored {
  readonly book: Book;
  readonly tag: string | undefined;
  readonly writes: readonly number[];
}

/** The states of a book: not yet created, stored, deleted. */
type Life = Stored | 'not yet' | 'no more';

const regularStatuses: Readonly<Record<Operation['type'], readonly number[]>> = {
  create: [201],
  get: [200, 404],
  update: [200, 404, 412],
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
  const lists = operations.filter((operation) => operation.type === 'list').filter(hasResponse);
  return [
    ...checkStatuses(operations),
    ...lists.flatMap(({ books }) => checkList(books)),
    ...checkIds(operations),
    ...checkTags(operations),
    ...checkLives(operations),
  ];
}

function checkStatuses(operations: readonly Operation[]): string[] {
  return operations
    .filter(hasResponse)
    .filter(({ type, status }) => !regularStatuses[type].includes(status))
    .map(({ type, status }) => `a request to ${type} got ${status}`);
}

function checkList(books: readonly Book[]): string[] {
  return books
    .filter(({ id }, index) => id <= (books[index - 1]?.id ?? 0))
    .map(({ id }) => `a list is not in ascending order, or has a book twice, at id ${id}`);
}

/** Every observed book belongs to one create, and every create to one book. */
function checkIds(operations: readonly Operation[]): string[] {
  const creates = new Map(operations.filter(isCreate).map((create) => [create.fields.title, create]));
  const titles = new Map<number, string>();
  const ids = new Map<string, number>();
  const violations = new Set<string>();
  for (const { id, title } of operations.flatMap(seenBooks)) {
    if (!creates.has(title)) violations.add(`book ${id} is a phantom: nobody created "${title}"`);
    if ((titles.get(id) ?? title) !== title) {
      violations.add(`id ${id} was used twice, for "${titles.get(id)}" and "${title}"`);
    }
    if ((ids.get(title) ?? id) !== id) {
      violations.add(`"${title}" was created twice, as book ${ids.get(title)} and ${id}`);
    }
    titles.set(id, title);
    ids.set(title, id);
  }
  return [...violations];
}

/** No entity tag is that of two contents. */
function checkTags(operations: readonly Operation[]): string[] {
  const contents = new Map<string, Book>();
  return operations.flatMap((operation) => {
    if (operation.type === 'list' || !operation.book || operation.tag === undefined) return [];
    const earlier = contents.get(operation.tag) ?? operation.book;
    contents.set(operation.tag, earlier);
    return isDeepStrictEqual(earlier, operation.book) ? [] : [`two contents have the tag ${operation.tag}`];
  });
}

function checkLives(operations: readonly Operation[]): string[] {
  const lists = operations.filter((operation) => operation.type === 'list').filter(hasResponse);
  const idOfTitle = new Map(operations.flatMap(seenBooks).map(({ id, title }) => [title, id]));
  const byId = Map.groupBy(
    operations.filter((operation) => operation.type !== 'list'),
    (operation) => (isCreate(operation) ? idOfTitle.get(operation.fields.title) : operation.id),
  );
  const violations: string[] = [];
  const unseen = byId.get(undefined) ?? [];
  for (const [id, itsOperations] of byId) {
    if (id === undefined) continue;
    const created = itsOperations.filter(isCreate);
    const firstKnown = Math.min(...itsOperations.map(({ invoked }) => invoked));
    const reads = lists
      // A list before the create needs no explanation.
      .filter(({ returned, books }) => returned > firstKnown || books.some((book) => book.id === id))
      .map(({ invoked, returned, books }): OneBook => {
        const book = books.find((listed) => listed.id === id);
        return { type: 'get', id, invoked, returned, status: book ? 200 : 404, book };
      });
    const history = [
      // A create without a response, whose book nobody has read, may have made the book that a deletion found.
      ...(created.length === 0 ? unseen : []),
      ...itsOperations.filter((operation) => hasResponse(operation) || operation.type !== 'get'),
      ...reads,
    ];
    const order = findOrder<Life, OneBook>('not yet', history, applyOperation, (life) =>
      JSON.stringify(life),
    );
    if (order) continue;
    const lost = created.some(hasResponse) && !itsOperations.some(({ type }) => type === 'delete');
    const absent = lists.length > 0 && !lists.at(-1)?.books.some((book) => book.id === id);
    const unexplained = `no order of the operations on book ${id} explains the responses:\n${describe(history)}`;
    violations.push(lost && absent ? `book ${id} was acknowledged, never deleted, and is lost` : unexplained);
  }
  return violations;
}

/** The specification of one book. */
function applyOperation(life: Life, operation: OneBook): Life | undefined {
  const stored = typeof life === 'object' ? life : undefined;
  const { type, status, tag, ifMatch, invoked, deadline = Infinity } = operation;
  const responded = hasResponse(operation);
  if (type === 'create') {
    if (operation.replayed) return life === 'not yet' ? undefined : life;
    if (life !== 'not yet') return undefined;
    // Only reads show the id of a book whose create had no response.
    const book = { id: operation.book?.id ?? 0, ...operation.fields };
    return !responded || isDeepStrictEqual(operation.book, book)
      ? { book, tag, writes: [invoked] }
      : undefined;
  }
  if (status === 404) return stored ? undefined : life;
  if (stored === undefined) return undefined;
  const isRefused = ifMatch !== undefined && !ifMatch.includes(stored.tag ?? '');
  if (status === 412) return isRefused ? stored : undefined;
  if (operation.type === 'get') {
    const isSame = tag === undefined || stored.tag === undefined || tag === stored.tag;
    return isSame && equalButForId(operation.book, stored.book)
      ? { ...stored, tag: tag ?? stored.tag }
      : undefined;
  }
  if (isRefused || (!responded && stored.writes.some((write) => write > deadline))) return undefined;
  if (operation.type !== 'update') return 'no more';
  const book = { ...stored.book, ...operation.changes };
  // The response to an update may be unknown although it was carried out.
  const writes = [...stored.writes, invoked].slice(-2);
  return operation.book === undefined || equalButForId(operation.book, book)
    ? { book, tag, writes }
    : undefined;
}

function equalButForId(told: Book | undefined, book: Book): boolean {
  return isDeepStrictEqual(told && { ...told, id: 0 }, { ...book, id: 0 });
}

function isCreate(operation: Operation): operation is Extract<Operation, { type: 'create' }> {
  return operation.type === 'create';
}

function seenBooks(operation: Operation): readonly Book[] {
  if (operation.type === 'list') return operation.books;
  return operation.book ? [operation.book] : [];
}

function describe(history: readonly OneBook[]): string {
  const inOrder = history.toSorted((a, b) => a.invoked - b.invoked);
  return inOrder.map((operation) => JSON.stringify(operation)).join('\n');
}
