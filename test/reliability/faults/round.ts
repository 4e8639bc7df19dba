import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Book, BookFields } from '../../../lib/books/book.ts';
import type { Fault } from '../../fakes/faults.ts';
import { aBook } from '../../support/a-book.ts';
import { type BookTable, listBooks, readCounter, setCounter, storeBook } from '../../support/book-table.ts';
import { type BookRequest, checkHistory, type Operation } from '../check-history.ts';
import { record } from '../record.ts';
import type { FaultyService } from './faulty-service.ts';

/** What a request may name: the fields of its book, the id if it is stored, and its entity tag. */
type Case = (fields: BookFields, id: number, ifMatch: readonly string[]) => BookRequest;

/** Each request is about another book, so that the proxy can tell the attempts at one from those at another. */
const idsOfNoBook = {
  get: Number.MAX_SAFE_INTEGER,
  update: Number.MAX_SAFE_INTEGER - 1,
  delete: Number.MAX_SAFE_INTEGER - 2,
};
const another = ['"another"'];

/** Every endpoint with each use of the storage. Each request works on a book of its own. */
const cases: Readonly<Record<string, Case>> = {
  'POST /book': (fields) => ({ type: 'create', fields }),
  'POST /book with a key': (fields) => ({ type: 'create', fields, key: randomUUID() }),
  'GET /books': () => ({ type: 'list' }),
  'GET /books, a page': (_, id) => ({ type: 'list', after: id - 1, limit: 1 }),
  'GET /book/{id}': (_, id) => ({ type: 'get', id }),
  'GET /book/{id} of no book': () => ({ type: 'get', id: idsOfNoBook.get }),
  'PUT /book/{id}': (_, id) => ({ type: 'update', id, changes: { author: 'changed' } }),
  'PUT /book/{id} with If-Match': (_, id, ifMatch) => ({ type: 'update', id, changes: { year: 3 }, ifMatch }),
  'PUT /book/{id} without changes': (_, id) => ({ type: 'update', id, changes: {} }),
  'PUT /book/{id} of another version': (_, id) => {
    return { type: 'update', id, changes: { year: 4 }, ifMatch: another };
  },
  'PUT /book/{id} of no book': () => ({ type: 'update', id: idsOfNoBook.update, changes: { year: 4 } }),
  'PUT /book/{id} with an invalid body': (_, id) => ({ type: 'update', id, changes: { year: 1.5 } }),
  'DELETE /book/{id}': (_, id) => ({ type: 'delete', id }),
  'DELETE /book/{id} with If-Match': (_, id, ifMatch) => ({ type: 'delete', id, ifMatch }),
  'DELETE /book/{id} of no book': () => ({ type: 'delete', id: idsOfNoBook.delete }),
  'DELETE /book/{id} of another version': (_, id) => ({ type: 'delete', id, ifMatch: another }),
};

/** Requests that use the counter too, each after the other one: the proxy cannot tell their attempts from each other's. */
const previousUsers: Readonly<Record<string, string>> = {
  'POST /book with a key': 'POST /book',
  'GET /books, a page': 'GET /books',
};

/** Whether requests fail under a lasting fault; `undefined` when they may. */
export function failUnder(fault: Fault): (name: string) => boolean | undefined {
  return () => (fault.isHarmless === 'by chance' ? undefined : !fault.isHarmless);
}

/** Whether they fail under a fault of two attempts: a late reset ends the next request on the connection, too. */
export function failTwice(fault: Fault): () => boolean | undefined {
  return () => (fault.isHarmless === 'by chance' ? undefined : false);
}

/** The expectations of a round. */
interface Expectations {
  /** Whether a request fails; `undefined` when it may. None by default. */
  readonly fail?: (name: string) => boolean | undefined;
  /** The statuses of those that fail. 503 by default. */
  readonly failures?: readonly number[];
  /** The requests that are sent. All by default. */
  readonly names?: readonly string[];
}

/**
 * Sends requests of every kind concurrently, with or without a fault, and checks the responses and the stored books.
 *
 * @param begin - sets the fault, which ends after the responses
 */
export async function runRound(
  { ask, proxy, table }: FaultyService,
  { fail = () => false, failures = [503], names = Object.keys(cases) }: Expectations = {},
  begin: () => Promise<void> | void = () => {},
): Promise<void> {
  const before = await listBooks(table);
  const lastId = (await readCounter(table)) ?? 0;
  await setCounter(table, lastId + names.length);
  const history = before.map((book) => created(book));
  const requests = await Promise.all(
    names.map(async (name, index): Promise<BookRequest> => {
      const fields = aBook({ title: `${name} ${randomUUID()}`, author: 'old', year: 2 });
      const chooseRequest = cases[name] as Case;
      if (name.startsWith('POST')) return chooseRequest(fields, 0, []);
      const book = { id: lastId + 1 + index, ...fields };
      // Without the repository, whose attempts time out on a busy machine.
      const tag = `"${await storeBook(table, book)}"`;
      history.push(created(book, tag));
      return chooseRequest(fields, book.id, [tag]);
    }),
  );

  await begin();
  const slowBefore = proxy.countSlow();
  const sent: Promise<Operation>[] = [];
  for (const [index, request] of requests.entries()) {
    const previous = sent[names.indexOf(previousUsers[names[index] as string] as string)];
    sent.push(Promise.resolve(previous).then(() => record(ask, request)));
  }
  const operations = await Promise.all(sent);
  await proxy.heal();
  // On a busy machine, a healthy exchange may take longer than a client waits. Then any request may fail, but none may lie.
  const isBusy = proxy.countSlow() > slowBefore;

  for (const [index, operation] of operations.entries()) {
    const { status, book } = operation;
    const name = names[index] as string;
    const isFailure = (isBusy ? undefined : fail(name)) ?? status >= 500;
    expect(isFailure ? failures : [200, 201, 400, 404, 412], name).toContain(status);
    history.push(isFailure ? { ...operation, status: 503, returned: Number.POSITIVE_INFINITY } : operation);
    // Others could have changed a shared book since; nobody has.
    if (operation.type === 'update' && status === 200) expect(book, name).toMatchObject(operation.changes);
  }
  history.push(await readStored(table));
  // A repeated create shows whether the first one was carried out.
  for (const request of requests) if ('key' in request) history.push(await record(ask, request));
  const last = await readStored(table);
  expect(checkHistory([...history, last])).toEqual([]);
  // No id of a deleted book is used again.
  expect(last.books?.filter(({ id }) => id <= lastId)).toEqual(before);
}

function created(book: Book, tag?: string): Operation {
  return { type: 'create', fields: book, invoked: 0, returned: 0, status: 201, book, tag };
}

async function readStored(table: BookTable): Promise<Operation> {
  const invoked = performance.now();
  return { type: 'list', books: await listBooks(table), invoked, returned: performance.now(), status: 200 };
}
