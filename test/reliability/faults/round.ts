import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { aBook } from '../../support/a-book.ts';
import { openBooks } from '../../support/book-table.ts';
import { settings } from '../../support/load-handlers.ts';
import type { FaultyService } from './faulty-service.ts';

/** The requests that need no storage. */
const withoutStorage: readonly string[] = [
  'POST /token',
  'POST /book with an invalid body',
  'DELETE /book/{id} without a token',
];

export function needsStorage(name: string): boolean {
  return !withoutStorage.includes(name);
}

/** A book of a case alone. Its author is unique, and no request changes it. */
interface Target {
  readonly book: Book;
  readonly path: string;
  readonly ifMatch: Record<string, string>;
}

interface Case {
  readonly request: Parameters<FaultyService['ask']>;
  /** Of a healthy service: status, message and data. */
  readonly response: readonly [status: number, message: string, data?: unknown];
  /** The books with the author of the case after a success; by default those before. */
  readonly after?: readonly unknown[];
}

const login = { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD };
const invalid = [400, 'Invalid input'] as const;
const idOfNoBook = Number.MAX_SAFE_INTEGER;

/** Every endpoint with each use of the storage. */
const cases: Readonly<Record<string, (target: Target) => Case>> = {
  'POST /token': () => ({
    request: ['POST', '/token', login],
    response: [200, 'Token generated successfully', { token: expect.any(String) }],
  }),
  'POST /book': ({ book }) => create(book),
  'POST /book with a key': ({ book }) => create(book, { 'Idempotency-Key': book.author.slice(0, 36) }),
  'POST /book with an invalid body': () => ({ request: ['POST', '/book', { title: 1 }], response: invalid }),
  'GET /books': ({ book }) => list('/books', expect.arrayContaining([book])),
  'GET /books, a page': ({ book }) => list(`/books?limit=1&after=${book.id - 1}`, [book]),
  'GET /book/{id}': ({ book, path }) => ({
    request: ['GET', path],
    response: [200, 'Book retrieved successfully', book],
  }),
  'GET /book/{id} of no book': () => ({
    request: ['GET', `/book/${idOfNoBook}`],
    response: [404, 'Book not found'],
  }),
  'PUT /book/{id}': (target) => update(target, { title: 'changed' }),
  'PUT /book/{id} with If-Match': (target) => update(target, { year: 3 }, target.ifMatch),
  'PUT /book/{id} without changes': (target) => update(target, {}),
  'PUT /book/{id} of another version': ({ path }) => ({
    request: ['PUT', path, { year: 4 }, { 'If-Match': '"another"' }],
    response: [412, 'Precondition failed'],
  }),
  'PUT /book/{id} of no book': () => ({
    request: ['PUT', `/book/${idOfNoBook}`, { year: 4 }],
    response: [404, 'Book not found'],
  }),
  'PUT /book/{id} with an invalid body': ({ path }) => ({ request: ['PUT', path, []], response: invalid }),
  'DELETE /book/{id}': (target) => remove(target),
  'DELETE /book/{id} with If-Match': (target) => remove(target, target.ifMatch),
  'DELETE /book/{id} of no book': () => ({
    request: ['DELETE', `/book/${idOfNoBook}`],
    response: [404, 'Book not found'],
  }),
  'DELETE /book/{id} of another version': ({ path }) => ({
    request: ['DELETE', path, undefined, { 'If-Match': '"another"' }],
    response: [412, 'Precondition failed'],
  }),
  'DELETE /book/{id} without a token': ({ path }) => ({
    request: ['DELETE', path, undefined, { Authorization: '' }],
    response: [401, 'Authorization token required'],
  }),
};

function create({ id: _, ...fields }: Book, headers = {}): Case {
  const created = { id: expect.any(Number), ...fields };
  const response = [201, 'Book created successfully', created] as const;
  return { request: ['POST', '/book', fields, headers], response, after: [created] };
}

function list(path: string, books: unknown): Case {
  return { request: ['GET', path], response: [200, 'Books retrieved successfully', books] };
}

function update({ book, path }: Target, changes: Partial<Book>, headers = {}): Case {
  const changed = { ...book, ...changes };
  const response = [200, 'Book updated successfully', changed] as const;
  return { request: ['PUT', path, changes, headers], response, after: [changed] };
}

function remove({ path }: Target, headers = {}): Case {
  return {
    request: ['DELETE', path, undefined, headers],
    response: [200, 'Book deleted successfully'],
    after: [],
  };
}

/** The ids of all rounds: none of them may name another book. */
const usedIds = new WeakMap<FaultyService, Set<number>>();

/** The expectations of a round. */
export interface Expectations {
  /** Whether a request fails; `undefined` when it may. None by default. */
  readonly fail?: (name: string) => boolean | undefined;
  /** The statuses of those that fail. 503 by default. */
  readonly failures?: readonly number[];
  /** Whether a write that failed may have taken effect. */
  readonly failedWritesMayStay?: boolean;
  /** The requests that are sent. All by default. */
  readonly names?: readonly string[];
}

/**
 * Sends requests of every kind concurrently, with or without a fault, and checks the responses and the stored books.
 *
 * @param begin - sets the fault, which ends after the responses
 */
export async function runRound(
  service: FaultyService,
  {
    fail = () => false,
    failures = [503],
    failedWritesMayStay = false,
    names = Object.keys(cases),
  }: Expectations = {},
  begin: () => Promise<void> | void = () => {},
): Promise<void> {
  const books = openBooks(service.table);
  const mark = randomUUID();
  const before = await service.readStored();
  const round = await Promise.all(
    names.map(async (name) => {
      const fields = aBook({ title: 'old', author: `${mark} ${name}`, year: 2 });
      const isStored = !name.startsWith('POST');
      const stored = isStored ? await books.create(fields) : undefined;
      const book = stored?.book ?? { id: 0, ...fields };
      const target = { book, path: `/book/${book.id}`, ifMatch: { 'If-Match': `"${stored?.version}"` } };
      return {
        name,
        book,
        isStored,
        ...(cases[name] as (typeof cases)[string])(target),
      };
    }),
  );

  await begin();
  const responses = await Promise.all(round.map(({ request }) => service.ask(...request)));
  await service.proxy.heal();

  const stored = await service.readStored();
  const ids = usedIds.get(service) ?? new Set();
  usedIds.set(service, ids);
  for (const [index, { name, request, book, isStored, response, after }] of round.entries()) {
    const { status, headers, envelope } = responses[index] as (typeof responses)[number];
    const received = new Headers(headers as Record<string, string>);
    const [expectedStatus, message, data = null] = response;
    expect(received.get('Content-Type'), name).toBe('application/json');
    if (fail(name) ?? status >= 500) {
      expect(failures, name).toContain(status);
      expect(envelope, name).toEqual({ status, message: expect.any(String), data: null });
      if (status === 503) expect(received.get('Retry-After'), name).toBe('1');
    } else {
      expect(envelope, name).toEqual({ status: expectedStatus, message, data });
      expect(status, name).toBe(expectedStatus);
    }

    // An acknowledged write is stored; a failed one as a whole or not at all.
    const unchanged = isStored ? [book] : [];
    const changed = after ?? unchanged;
    const states = status < 300 ? [changed] : failedWritesMayStay ? [changed, unchanged] : [unchanged];
    const found = [...stored.values()].filter(({ author }) => author === book.author);
    expect(states, `${name} ${status}`).toContainEqual(found);
    if (status === 201) expect(found, name).toEqual([envelope.data]);
    for (const { id } of found) expect(ids, 'an id is used twice').not.toContain(id);
    for (const { id } of found) ids.add(id);
    if (request[3]?.['Idempotency-Key'] !== undefined) await checkKey(service, request, found);
  }
  for (const book of before.values()) expect(stored.get(book.id)).toEqual(book);
  const isKnown = ({ id, author }: Book) => before.has(id) || author.startsWith(mark);
  expect(
    [...stored.values()].filter((book) => !isKnown(book)),
    'phantoms',
  ).toEqual([]);
}

/** Repeats a create with its key: there is one book, before and after. */
async function checkKey(
  service: FaultyService,
  request: Case['request'],
  found: readonly Book[],
): Promise<void> {
  const { envelope, headers } = await service.ask(...request);
  const isReplay = new Headers(headers as Record<string, string>).has('Idempotency-Replayed');
  expect([envelope.status, isReplay]).toEqual([201, found.length === 1]);
  const book = envelope.data as Book;
  expect(found).toEqual(isReplay ? [book] : []);
  usedIds.get(service)?.add(book.id);
}
