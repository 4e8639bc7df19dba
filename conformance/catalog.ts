import assert from 'node:assert/strict';
import { aBook, type BookFields } from './a-book.ts';
import { expectData, expectFailure, expectSuccess } from './expect.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from './http-messages.ts';
import { inParallel } from './in-parallel.ts';
import { type Outcome, outcomes } from './outcomes.ts';
import type { Session } from './session.ts';

export interface Book extends BookFields {
  readonly id: number;
}

export const dune = aBook({ title: 'Dune', author: 'Frank Herbert', year: 1965 });

const createsAtOnce = 20;
const deletionsAtOnce = 16;
const jsonType = { 'Content-Type': 'application/json' };

/** The catalog of the service as one case sees it; it knows the books that the case makes. */
export class Catalog {
  readonly session: Session;
  readonly #responses: HttpResponse[];
  readonly #bookIds = new Set<number>();

  /** @param responses - receives every response */
  constructor(session: Session, responses: HttpResponse[] = []) {
    this.session = session;
    this.#responses = responses;
  }

  /** Sends a request without a token, as a script of the configured origin or another one does. */
  async send({ headers, ...request }: HttpRequest): Promise<HttpResponse> {
    const { requestIds, options } = this.session;
    const { signal, corsOrigin } = options;
    signal?.throwIfAborted();
    const observe = (response: HttpResponse) => {
      this.#recordBook(response);
      this.#responses.push(response);
      const { 'access-control-allow-origin': allowed, 'x-amzn-requestid': id } = response.headers;
      const what = `a response to ${request.method} ${request.path}`;
      assert.equal(allowed, corsOrigin, `the origin that may read ${what} (rules 13.1, 13.3)`);
      assert.ok(id && !requestIds.has(id), `${what} has an id of its own (rule 1.9)`);
      requestIds.add(id);
    };
    const Origin = corsOrigin ?? 'https://elsewhere.example';
    return this.session.send({ ...request, headers: { Origin, ...headers } }, { observe, signal });
  }

  /** Sends a request with a valid token. A body that is neither text nor bytes is sent as JSON. */
  async call(method: string, path: string, body?: unknown, headers: RequestHeaders = jsonType): Promise<HttpResponse> {
    const request = { method, path, headers: { Authorization: await this.session.token(), ...headers } };
    return this.send(body === undefined ? request : { ...request, body: encodeBody(body) });
  }

  /** Sends a login, by default with the right credentials. */
  logIn(body?: unknown, headers: RequestHeaders = jsonType): Promise<HttpResponse> {
    const { username, password } = this.session.options;
    const content = encodeBody(body ?? { username, password });
    return this.send({ method: 'POST', path: '/token', headers, body: content });
  }

  /** Creates a book and checks the response. */
  async createBook(fields: Partial<BookFields> = {}): Promise<Book> {
    const input = { ...dune, ...fields };
    return expectCreated(await this.call('POST', '/book', input), input);
  }

  /** @returns a book that all cases of a run share: none changes it */
  findSharedBook(): Promise<Book> {
    const { session } = this;
    session.sharedCatalog ??= new Catalog(session);
    session.sharedBook ??= session.sharedCatalog.createBook().catch((error) => {
      session.sharedBook = undefined;
      throw error;
    });
    return session.sharedBook;
  }

  /** Creates books, some at a time, whose years count from 0. @returns them in the order of their ids */
  async createBooks(count: number, fields: Partial<BookFields> = {}): Promise<readonly Book[]> {
    const books = await inParallel(count, createsAtOnce, (year) => this.createBook({ ...fields, year }));
    return books.toSorted((one, other) => one.id - other.id);
  }

  /** Changes fields of a book and checks the response. @returns the changed book */
  async updateBook<Changed extends Book>(book: Changed, changes: Partial<BookFields>): Promise<Changed> {
    const changed = { ...book, ...changes };
    expectData(await this.call('PUT', `/book/${book.id}`, changes), changed);
    return changed;
  }

  async deleteBook(id: number): Promise<void> {
    expectData(await this.call('DELETE', `/book/${id}`), null);
  }

  /** @returns the id of a deleted book */
  async createMissingId(): Promise<number> {
    const { id } = await this.createBook();
    await this.deleteBook(id);
    return id;
  }

  /** Checks that the service holds a book exactly as given. */
  async expectStored(book: Book): Promise<void> {
    expectData(await this.call('GET', `/book/${book.id}`), book);
  }

  async expectMissing(id: number): Promise<void> {
    expectFailure(await this.call('GET', `/book/${id}`), outcomes.bookNotFound);
  }

  /** Checks that POST accepts a body, and that PUT with it makes the same of {@link dune}. @returns the responses */
  async expectAccepted(body: unknown, given: BookFields, headers?: RequestHeaders): Promise<readonly HttpResponse[]> {
    const created = await this.call('POST', '/book', body, headers);
    const book = expectCreated(created, given);
    await this.expectStored(book);
    await this.updateBook(book, dune);
    const updated = await this.call('PUT', `/book/${book.id}`, body, headers);
    expectData(updated, book);
    await this.expectStored(book);
    return [created, updated];
  }

  /** Checks that POST and PUT refuse a body, and that the book does not change. */
  async expectRefused(body: unknown, outcome: Outcome, headers?: RequestHeaders): Promise<void> {
    const book = await this.findSharedBook();
    expectFailure(await this.call('POST', '/book', body, headers), outcome);
    expectFailure(await this.call('PUT', `/book/${book.id}`, body, headers), outcome);
    await this.expectStored(book);
  }

  /** Lists the books from an id on, so that a list is short however many books the catalog has. Checks their order. */
  async listFrom(id: number): Promise<readonly Book[]> {
    return expectBooks(await this.call('GET', `/books?after=${id - 1}`));
  }

  /** Checks that the list holds each of the given books once and unchanged. */
  async expectInList(books: readonly Book[]): Promise<void> {
    assert.deepEqual(pickBooks(await this.listFrom(books[0]?.id ?? 1), books), books, 'own books in the list');
  }

  /** Checks that a search for this author, whom nobody else has, finds these books and no other. */
  async expectListed(author: string, books: readonly Book[]): Promise<void> {
    const found = expectBooks(await this.call('GET', `/books?author=${encodeURIComponent(author)}`));
    assert.deepEqual(found, books, `books by "${author}" in the list`);
  }

  /** Deletes the books of the case that are still there. */
  async cleanUp(): Promise<void> {
    const ids = [...this.#bookIds];
    await inParallel(ids.length, deletionsAtOnce, async (index) => {
      const id = ids[index] as number;
      const headers = { Authorization: await this.session.token() };
      const request = { method: 'DELETE', path: `/book/${id}`, headers };
      const { status } = (await this.session.send(request).catch(() => undefined)) ?? {};
      if (status !== 200 && status !== 404) this.session.undeleted.push(id);
    });
  }

  /** Remembers a created book, also one that should have been refused, and forgets a deleted one. */
  #recordBook({ request: { method, path }, status, body }: HttpResponse): void {
    if (method === 'POST' && path.startsWith('/book') && status < 300) {
      const id = /"id"\s*:\s*(?<id>\d+)/.exec(body.toString())?.groups?.id;
      if (id !== undefined) this.#bookIds.add(Number(id));
    }
    if (method === 'DELETE' && status === 200) this.#bookIds.delete(Number(path.slice('/book/'.length)));
  }
}

/** Checks the response to the creation of a book with these fields, and the defaults of all others. */
export function expectCreated(response: HttpResponse, given: Partial<BookFields>): Book {
  const book = expectSuccess(response) as Book | null;
  const id = book?.id ?? Number.NaN;
  assert.deepEqual(book, { id, ...aBook(given) }, 'the created book');
  assert.ok(Number.isSafeInteger(id) && id > 0, `the id of a created book is an integer above 0, got ${id}`);
  return book as Book;
}

/** Checks that a response is a list of books in ascending order of their ids. */
export function expectBooks(response: HttpResponse): readonly Book[] {
  const books = expectSuccess(response) as readonly Book[];
  const ids = books.map(({ id }) => id);
  assert.ok(
    ids.every((id, index) => id > (ids[index - 1] ?? 0)),
    `the ids of a list ascend, got ${ids}`,
  );
  return books;
}

/** Finds books by id in a list with books of others. */
export function pickBooks(books: readonly Book[], own: readonly Pick<Book, 'id'>[]): readonly Book[] {
  const ids = new Set(own.map(({ id }) => id));
  return books.filter(({ id }) => ids.has(id));
}

function encodeBody(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}
