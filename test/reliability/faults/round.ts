import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { aBook } from '../../support/a-book.ts';
import { settings } from '../../support/load-handlers.ts';
import type { FaultyService } from './faulty-service.ts';

/** The requests that need no storage. */
export const withoutStorage: readonly string[] = [
  'POST /token',
  'POST /book with an invalid body',
  'DELETE /book/{id} without a token',
];

const toldResponse = (status: number, message: string, data: unknown = null, retryAfter?: string) => ({
  status,
  contentType: 'application/json',
  retryAfter,
  envelope: { status, message, data },
});

const invalid = toldResponse(400, 'Invalid input');
const unavailable = toldResponse(503, 'Service unavailable', null, '1');

type Case = readonly [request: Parameters<FaultyService['ask']>, response: typeof unavailable];

/** Every endpoint with each use of the storage, and the responses of a healthy service. */
function makeCases({
  kept,
  changed,
  deleted,
  created,
}: Readonly<Record<string, Book>>): Record<string, Case> {
  const login = { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD };
  const { id: changedId, ...changes } = changed as Book;
  const { id: _, ...fields } = created as Book;
  const page = `/books?limit=1&after=${Number(kept?.id) - 1}`;
  const [toKept, toChanged, toDeleted] = [`/book/${kept?.id}`, `/book/${changedId}`, `/book/${deleted?.id}`];
  const token = toldResponse(200, 'Token generated successfully', { token: expect.any(String) });
  const stored = toldResponse(201, 'Book created successfully', { id: expect.any(Number), ...fields });
  const list = (books: unknown) => toldResponse(200, 'Books retrieved successfully', books);
  const found = toldResponse(200, 'Book retrieved successfully', kept);
  const updated = (book: unknown) => toldResponse(200, 'Book updated successfully', book);
  const refused = toldResponse(401, 'Authorization token required');
  return {
    'POST /token': [['POST', '/token', login], token],
    'POST /book': [['POST', '/book', fields], stored],
    'POST /book with an invalid body': [['POST', '/book', { title: 1 }], invalid],
    'GET /books': [['GET', '/books'], list(expect.arrayContaining([kept]))],
    'GET /books, a page': [['GET', page], list([kept])],
    'GET /book/{id}': [['GET', toKept], found],
    'GET /book/{id} of no book': [['GET', '/book/9007199254740991'], toldResponse(404, 'Book not found')],
    'PUT /book/{id}': [['PUT', toChanged, changes], updated(changed)],
    'PUT /book/{id} without changes': [['PUT', toKept, {}], updated(kept)],
    'PUT /book/{id} with an invalid body': [['PUT', toKept, []], invalid],
    'DELETE /book/{id}': [['DELETE', toDeleted], toldResponse(200, 'Book deleted successfully')],
    'DELETE /book/{id} without a token': [['DELETE', toKept, undefined, { Authorization: '' }], refused],
  };
}

/** The ids of all rounds: none of them may name another book. */
const usedIds = new WeakMap<FaultyService, Set<number>>();

/** The expectations of a round. */
export interface Expectations {
  /** The requests that succeed. All by default. */
  readonly succeed?: (name: string) => boolean;
  /** The response to the others. A 503 by default. */
  readonly failure?: unknown;
  /** Whether a write that failed may have taken effect. */
  readonly failedWritesMayStay?: boolean;
}

/**
 * Sends every kind of request concurrently, with or without a fault, and checks the responses and the stored books.
 *
 * @param begin - sets the fault, which ends after the responses
 */
export async function runRound(
  service: FaultyService,
  { succeed = () => true, failure = unavailable, failedWritesMayStay = false }: Expectations = {},
  begin: () => Promise<void> | void = () => {},
): Promise<void> {
  const { repository } = service.table;
  const mark = randomUUID();
  const before = await service.readStored();
  const kept = await repository.create(aBook({ title: 'kept', author: mark, year: 1 }));
  const unchanged = await repository.create(aBook({ title: 'old', author: 'old', year: 1 }));
  const deleted = await repository.create(aBook({ title: 'deleted', author: mark, year: 1 }));
  const changed = { ...unchanged, title: 'changed', author: mark };
  const cases = makeCases({
    kept,
    changed,
    deleted,
    created: { id: 0, ...aBook({ title: 'new', author: mark, year: 2 }) },
  });

  await begin();
  const responses = await Promise.all(
    Object.entries(cases).map(async ([name, [request]]) => {
      const { status, headers = {}, envelope } = await service.ask(...request);
      const { 'Content-Type': contentType, 'Retry-After': retryAfter } = headers;
      return [name, { status, contentType, retryAfter, envelope }] as const;
    }),
  );
  await service.proxy.heal();

  const received = Object.fromEntries(responses);
  const expected = Object.entries(cases).map(([name, [, response]]) => [
    name,
    succeed(name) ? response : failure,
  ]);
  expect(received).toEqual(Object.fromEntries(expected));

  const stored = await service.readStored();
  const ids = usedIds.get(service) ?? new Set();
  usedIds.set(service, ids);
  const created = [...stored.values()].filter(({ title, author }) => title === 'new' && author === mark);
  for (const { id } of [kept, unchanged, deleted, ...created]) {
    expect(ids, 'an id is used twice').not.toContain(id);
    ids.add(id);
  }
  for (const book of before.values()) expect(stored.get(book.id)).toEqual(book);
  expect(stored.size, 'phantoms').toBeLessThanOrEqual(before.size + 3 + created.length);
  expect(stored.get(kept.id)).toEqual(kept);

  // An acknowledged write is stored; a failed one as a whole or not at all.
  const states = (name: string, done: unknown, undone: unknown) => {
    if (Number(received[name]?.status) < 300) return [done];
    return failedWritesMayStay ? [done, undone] : [undone];
  };
  const id = (received['POST /book']?.envelope.data as Book | null)?.id ?? created[0]?.id;
  const newBook = { id, ...aBook({ title: 'new', author: mark, year: 2 }) };
  expect(states('POST /book', [newBook], [])).toContainEqual(created);
  expect(states('PUT /book/{id}', changed, unchanged)).toContainEqual(stored.get(changed.id));
  expect(states('DELETE /book/{id}', undefined, deleted)).toContainEqual(stored.get(deleted.id));
}
