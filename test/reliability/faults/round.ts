import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { expect } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { testSettings } from '../../local/local-service.ts';
import type { FaultyService } from './faulty-service.ts';

/** The timeouts of the functions in serverless.yml, in milliseconds; GET /books has more, and no need of it. */
const timeLimitsMs: Readonly<Record<string, number>> = {
  'POST /book': 28_000,
  'PUT /book/{id}': 20_000,
};
const defaultTimeLimitMs = 10_000;

/** What a client is told: status, message and, where it matters, data. */
interface Told {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
  readonly retryAfter: string | null;
}

/** The books that the requests of a round are about. */
interface Subjects {
  readonly kept: Book;
  readonly changed: Book;
  readonly deleted: Book;
}

/** Every endpoint, with each way in which it uses the storage. */
const requestNames = [
  'POST /token',
  'POST /book',
  'POST /book with an invalid body',
  'GET /books',
  'GET /books, a page',
  'GET /book/{id}',
  'GET /book/{id} of no book',
  'PUT /book/{id}',
  'PUT /book/{id} without changes',
  'PUT /book/{id} with an invalid body',
  'DELETE /book/{id}',
  'DELETE /book/{id} without a token',
] as const;

export type RequestName = (typeof requestNames)[number];

/** Requests that need no storage. */
export const withoutStorage: ReadonlySet<RequestName> = new Set([
  'POST /token',
  'POST /book with an invalid body',
  'DELETE /book/{id} without a token',
]);

/** Ids that were seen in any round: none of them may ever name another book. */
const usedIds = new WeakMap<FaultyService, Set<number>>();

/** What a round is expected to show. */
export interface Expectations {
  /** The requests that end as if nothing was wrong; the others get a 503. */
  readonly succeed: (name: RequestName) => boolean;
  /** Whether a write that got a 503 may be there nevertheless. */
  readonly failedWritesMayStay: boolean;
}

/**
 * Sends every kind of request at the same time, while something is wrong or while nothing is, and checks what the
 * clients are told, how fast, and what is stored afterwards.
 *
 * @param service - the service
 * @param expectations - how the requests end
 * @param during - makes something go wrong, and ends it when the responses are there
 */
export async function runRound(
  service: FaultyService,
  { succeed, failedWritesMayStay }: Expectations,
  during:
    | { readonly begin: () => Promise<void> | void; readonly end: () => Promise<void> }
    | undefined = undefined,
): Promise<void> {
  const { repository } = service;
  const mark = randomUUID();
  const before = await service.readStored();
  const subjects: Subjects = {
    kept: await repository.create({ title: 'kept', author: mark, year: 1 }),
    changed: await repository.create({ title: 'old', author: 'old', year: 1 }),
    deleted: await repository.create({ title: 'deleted', author: mark, year: 1 }),
  };
  const newFields = { title: 'new', author: mark, year: 2 };
  const after = { ...subjects.changed, title: 'changed', author: mark };
  const expected = expectedResponses(subjects, newFields, after);

  await during?.begin();
  const results = await Promise.all(
    requestNames.map(async (name) => [name, await ask(service, name, subjects, newFields, after)] as const),
  );
  await during?.end();

  const responses = Object.fromEntries(results) as Record<RequestName, Told>;
  const unavailable = { status: 503, message: 'Service unavailable', data: null, retryAfter: '1' };
  expect(responses).toEqual(
    Object.fromEntries(requestNames.map((name) => [name, succeed(name) ? expected[name] : unavailable])),
  );

  const stored = await service.readStored();
  const ids = usedIds.get(service) ?? new Set();
  usedIds.set(service, ids);
  const created = [...stored.values()].filter(({ title, author }) => title === 'new' && author === mark);
  for (const { id } of [...Object.values(subjects), ...created]) {
    expect(ids, 'an id is used twice').not.toContain(id);
    ids.add(id);
  }
  for (const book of before.values()) expect(stored.get(book.id)).toEqual(book);
  expect(stored.size, 'phantoms').toBeLessThanOrEqual(before.size + 3 + created.length);
  expect(stored.get(subjects.kept.id)).toEqual(subjects.kept);

  // An acknowledged write is there; a failed one is there as a whole or not at all.
  const states = <State>(name: RequestName, done: State, undone: State) => {
    if (responses[name].status < 300) return [done];
    return failedWritesMayStay ? [done, undone] : [undone];
  };
  const { data: acknowledged } = responses['POST /book'];
  const id = (acknowledged as Book | null)?.id ?? created[0]?.id;
  expect(states<unknown[]>('POST /book', [{ id, ...newFields }], [])).toContainEqual(created);
  expect(states<Book>('PUT /book/{id}', after, subjects.changed)).toContainEqual(
    stored.get(subjects.changed.id),
  );
  expect(states<Book | undefined>('DELETE /book/{id}', undefined, subjects.deleted)).toContainEqual(
    stored.get(subjects.deleted.id),
  );
}

/** Sends one request and measures it. */
async function ask(
  { baseUrl, headers }: FaultyService,
  name: RequestName,
  { kept, changed, deleted }: Subjects,
  newFields: object,
  { title, author }: Book,
): Promise<Told> {
  const body = (value: unknown) => ({ headers, body: JSON.stringify(value) });
  const login = { username: testSettings.AUTH_USERNAME, password: testSettings.AUTH_PASSWORD };
  const requests: Record<RequestName, [path: string, init: RequestInit]> = {
    'POST /token': ['/token', body(login)],
    'POST /book': ['/book', body(newFields)],
    'POST /book with an invalid body': ['/book', body({ title: 1 })],
    'GET /books': ['/books', { headers }],
    'GET /books, a page': [`/books?limit=1&after=${kept.id - 1}`, { headers }],
    'GET /book/{id}': [`/book/${kept.id}`, { headers }],
    'GET /book/{id} of no book': ['/book/9007199254740991', { headers }],
    'PUT /book/{id}': [`/book/${changed.id}`, body({ title, author })],
    'PUT /book/{id} without changes': [`/book/${kept.id}`, body({})],
    'PUT /book/{id} with an invalid body': [`/book/${kept.id}`, body([])],
    'DELETE /book/{id}': [`/book/${deleted.id}`, { headers }],
    'DELETE /book/{id} without a token': [`/book/${kept.id}`, {}],
  };
  const [path, init] = requests[name];
  const startedAt = performance.now();
  const response = await fetch(baseUrl + path, { method: name.split(' ', 1)[0] ?? '', ...init });
  const envelope = (await response.json()) as Omit<Told, 'retryAfter'>;
  const tookMs = performance.now() - startedAt;

  expect(tookMs, `${name} in time`).toBeLessThan(timeLimitsMs[name] ?? defaultTimeLimitMs);
  expect(Object.keys(envelope).sort(), name).toEqual(['data', 'message', 'status']);
  expect(response.status, name).toBe(envelope.status);
  expect(response.headers.get('content-type'), name).toBe('application/json');
  return { ...envelope, retryAfter: response.headers.get('retry-after') };
}

function expectedResponses({ kept }: Subjects, newFields: object, after: Book): Record<RequestName, Told> {
  const told = (status: number, message: string, data: unknown = null): Told => ({
    status,
    message,
    data,
    retryAfter: null,
  });
  return {
    'POST /token': told(200, 'Token generated successfully', { token: expect.any(String) }),
    'POST /book': told(201, 'Book created successfully', { id: expect.any(Number), ...newFields }),
    'POST /book with an invalid body': told(400, 'Invalid input'),
    'GET /books': told(200, 'Books retrieved successfully', expect.arrayContaining([kept])),
    'GET /books, a page': told(200, 'Books retrieved successfully', [kept]),
    'GET /book/{id}': told(200, 'Book retrieved successfully', kept),
    'GET /book/{id} of no book': told(404, 'Book not found'),
    'PUT /book/{id}': told(200, 'Book updated successfully', after),
    'PUT /book/{id} without changes': told(200, 'Book updated successfully', kept),
    'PUT /book/{id} with an invalid body': told(400, 'Invalid input'),
    'DELETE /book/{id}': told(200, 'Book deleted successfully'),
    'DELETE /book/{id} without a token': told(401, 'Authorization token required'),
  };
}
