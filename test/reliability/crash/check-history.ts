import { isDeepStrictEqual } from 'node:util';
import type { Book } from '../../../lib/books/book.ts';
import { findOrder } from '../find-order.ts';
import { hasResponse, type Operation } from './history.ts';

type Create = Extract<Operation, { type: 'create' }>;
type BookOperation = Exclude<Operation, { type: 'list' }>;

/** The states of a book: not yet created, stored, deleted. */
type Life = Book | 'not yet' | 'no more';

const regularStatuses: Readonly<Record<Operation['type'], readonly number[]>> = {
  create: [201],
  get: [200, 404],
  update: [200, 404],
  delete: [200, 404],
  list: [200],
};

/**
 * Compares responses with the stored books, like Jepsen's set and register tests: an acknowledged book exists until its
 * deletion, nobody sees a book that nobody created, no id is used twice, no create is carried out twice, and the reads and
 * writes of each book are linearizable.
 *
 * @param operations - the operations of all clients; the last is a list of all books
 * @returns the violations as sentences
 */
export function checkHistory(operations: readonly Operation[]): string[] {
  const lists = operations.filter((operation) => operation.type === 'list').filter(hasResponse);
  if (lists.length === 0) return ['the history has no list to compare with'];
  return [
    ...checkStatuses(operations),
    ...lists.flatMap(({ books }) => checkList(books)),
    ...checkIds(operations),
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

function checkLives(operations: readonly Operation[]): string[] {
  const lists = operations.filter((operation) => operation.type === 'list').filter(hasResponse);
  const idOfTitle = new Map(operations.flatMap(seenBooks).map(({ id, title }) => [title, id]));
  const byId = Map.groupBy(
    operations.filter((operation) => operation.type !== 'list'),
    (operation) => (isCreate(operation) ? idOfTitle.get(operation.fields.title) : operation.id),
  );
  const violations: string[] = [];
  for (const [id, itsOperations] of byId) {
    // A create whose book nobody observed did not take effect.
    if (id === undefined) continue;
    const created = itsOperations.filter(isCreate);
    const firstKnown = Math.min(...itsOperations.map(({ invoked }) => invoked));
    const reads = lists
      // A list before the create needs no explanation.
      .filter(({ returned, books }) => returned > firstKnown || books.some((book) => book.id === id))
      .map(({ invoked, returned, books }): BookOperation => {
        const book = books.find((listed) => listed.id === id);
        return { type: 'get', id, invoked, returned, status: book ? 200 : 404, book };
      });
    const history = [
      ...itsOperations.filter((operation) => hasResponse(operation) || operation.type !== 'get'),
      ...reads,
    ];
    const order = findOrder<Life, BookOperation>('not yet', history, applyOperation, (life) =>
      JSON.stringify(life),
    );
    if (order) continue;
    const lost = created.some(hasResponse) && !itsOperations.some(({ type }) => type === 'delete');
    const absent = !lists.at(-1)?.books.some((book) => book.id === id);
    const unexplained = `no order of the operations on book ${id} explains the responses:\n${describe(history)}`;
    violations.push(lost && absent ? `book ${id} was acknowledged, never deleted, and is lost` : unexplained);
  }
  return violations;
}

/** The specification of one book. */
function applyOperation(life: Life, operation: BookOperation): Life | undefined {
  const book = typeof life === 'object' ? life : undefined;
  const { type, status } = operation;
  const responded = hasResponse(operation);
  if (type === 'create') {
    if (life !== 'not yet') return undefined;
    // Only reads show the id of a book whose create had no response.
    const created = { id: operation.book?.id ?? 0, ...operation.fields };
    return !responded || isDeepStrictEqual(operation.book, created) ? created : undefined;
  }
  if (status === 404) return book ? undefined : life;
  // A delete that the SDK retried may succeed although another one removed the book.
  if (type === 'delete') return life === 'not yet' ? undefined : 'no more';
  if (book === undefined) return undefined;
  if (operation.type !== 'update') return equalButForId(operation.book, book) ? book : undefined;
  const changed = { ...book, ...operation.changes };
  return !responded || equalButForId(operation.book, changed) ? changed : undefined;
}

function equalButForId(told: Book | undefined, book: Book): boolean {
  return isDeepStrictEqual(told && { ...told, id: 0 }, { ...book, id: 0 });
}

function isCreate(operation: Operation): operation is Create & Operation {
  return operation.type === 'create';
}

function seenBooks(operation: Operation): readonly Book[] {
  if (operation.type === 'list') return operation.books;
  return operation.book ? [operation.book] : [];
}

function describe(history: readonly BookOperation[]): string {
  const inOrder = history.toSorted((a, b) => a.invoked - b.invoked);
  return inOrder.map((operation) => JSON.stringify(operation)).join('\n');
}
