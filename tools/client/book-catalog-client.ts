import type { Book, BookFields } from '../../lib/books/book.ts';
import { BookCatalogError } from './book-catalog-error.ts';
import { exchange, type Fetch, type RequestOptions } from './exchange.ts';
import { shareLogin } from './login.ts';
import { createRetries, type RetryPolicy } from './retries.ts';

export type { Book } from '../../lib/books/book.ts';
export { BookCatalogError } from './book-catalog-error.ts';

/** The service and its credentials. */
export interface BookCatalogOptions {
  /** Begins with `http:` or `https:`. It may end in a path, such as the stage of an API Gateway. */
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  /** The retry policy; retries for a minute by default. */
  readonly retries?: Partial<RetryPolicy>;
  /** Sends the requests instead of the global `fetch`. */
  readonly fetch?: Fetch;
}

/** The fields of a new book. The service stores the default of one that is missing: `""` or `0`. */
export type NewBook = Partial<BookFields>;

/** The fields of a book to change. The others stay. */
export type BookChanges = Partial<BookFields>;

export interface CallOptions {
  /** Ends the call with all that it waits for, logins and retries included. */
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Creates with the same key and fields make one book, for 7 days. A random key by default. */
  readonly idempotencyKey?: string;
}

export interface FetchOptions extends CallOptions {
  /** Fetches the book only when its entity tag is another one. */
  readonly ifNoneMatch: string | undefined;
}

export interface ChangeOptions extends CallOptions {
  /** Changes the book only when it has this entity tag; otherwise the call throws an error with the status 412. */
  readonly ifMatch?: string;
}

export interface ListOptions extends CallOptions {
  /** Only books with higher ids; 0 by default. */
  readonly after?: number;
  /** How many books to read at a time: 1 to 1000, the default. */
  readonly pageSize?: number;
}

/** A book and its entity tag, which changes with each change of the book. */
export interface TaggedBook {
  readonly book: Book;
  /** For `ifMatch` and `ifNoneMatch`. Empty when the book has none, which matches nothing. */
  readonly etag: string;
}

/** A book that has still the entity tag of `ifNoneMatch`. */
export interface UnchangedBook {
  readonly book: undefined;
  readonly etag: string;
}

export interface CreatedBook extends TaggedBook {
  /** Whether an earlier create with the same idempotency key made the book. */
  readonly replayed: boolean;
}

/**
 * The calls of the service. Each returns when the service has done it, and throws a {@link BookCatalogError} otherwise, or
 * the reason of its signal when that is aborted.
 */
export interface BookCatalogClient {
  createBook(book: NewBook, options?: CreateOptions): Promise<CreatedBook>;
  getBook(id: number, options?: CallOptions & { readonly ifNoneMatch?: never }): Promise<TaggedBook>;
  /** Fetches a book if it has changed. `book` is undefined when it has not. */
  getBook(id: number, options: FetchOptions): Promise<TaggedBook | UnchangedBook>;
  updateBook(id: number, changes: BookChanges, options?: ChangeOptions): Promise<TaggedBook>;
  deleteBook(id: number, options?: ChangeOptions): Promise<void>;
  /** Reads all books in the order of their ids, a page at a time. It retries a page that fails. */
  listBooks(options?: ListOptions): AsyncGenerator<Book, void, void>;
}

interface Call extends CallOptions {
  readonly method: RequestOptions['method'];
  readonly path: string;
  /** Those without a value are left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
}

/**
 * Makes a client that logs in before its first request, sends the token with each request, and renews it after 14 minutes.
 * It repeats a request once with a new token when the token was refused.
 *
 * It retries logins, reads and creates after 429, 502, 503, 504 and a lost connection, with backoff and `Retry-After`; for
 * a few seconds only until the service has responded for the first time. It retries updates and deletions after 429
 * alone: a retry of a successful change would get 412 or 404, or undo the change of another client.
 *
 * @throws {TypeError} when the base URL is not one of HTTP
 */
export function createBookCatalogClient({
  baseUrl,
  username,
  password,
  retries = {},
  fetch = globalThis.fetch,
}: BookCatalogOptions): BookCatalogClient {
  // So that a wrong URL does not look like a lost connection later.
  if (!/^https?:$/.test(new URL(baseUrl).protocol)) throw new TypeError(`${baseUrl} is not a URL with http: or https:`);
  const base = baseUrl.replace(/\/+$/, '');
  const retry = createRetries(retries);

  const send = ({ method, path, headers = {}, body, signal }: Call) => {
    // Made here, because `fetch` would refuse a malformed value in the way of a lost connection.
    const given = new Headers(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    if (body) given.set('Content-Type', 'application/json');
    const request = { method, headers: given, body: body ? JSON.stringify(body) : null, signal };
    // A login changes nothing, and a create has a key.
    const isRepeatable = method === 'GET' || method === 'POST';
    return retry({ send: () => exchange(fetch, base + path, request), isRepeatable, signal });
  };

  const login = shareLogin(async (signal) => {
    const body = { username, password };
    const { data } = await send({ method: 'POST', path: '/token', body, signal });
    const { token } = (data ?? {}) as { readonly token?: unknown };
    if (typeof token !== 'string') throw new BookCatalogError('no token in the response to the login');
    return token;
  });

  const call = async (request: Call) => {
    const sendWith = (token: string) => send({ ...request, headers: { ...request.headers, Authorization: token } });
    const token = await login.getToken(request.signal);
    try {
      return await sendWith(token);
    } catch (error) {
      if (!(error instanceof BookCatalogError && error.status === 401)) throw error;
      login.forget(token);
      return sendWith(await login.getToken(request.signal));
    }
  };

  const callForBook = async (request: Call) => {
    const { headers, data } = await call(request);
    return { book: data as Book, etag: headers.get('ETag') ?? '', headers };
  };

  return {
    async createBook(body, { idempotencyKey = crypto.randomUUID(), signal } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      const created = await callForBook({ method: 'POST', path: '/book', headers, body, signal });
      const { book, etag } = created;
      return { book, etag, replayed: created.headers.get('Idempotency-Replayed') !== null };
    },

    async getBook(id: number, { ifNoneMatch, signal }: Partial<FetchOptions> = {}) {
      const headers = { 'If-None-Match': ifNoneMatch };
      const path = `/book/${id}`;
      const { book, etag } = await callForBook({ method: 'GET', path, headers, signal });
      return { book, etag };
    },

    async updateBook(id, body, { ifMatch, signal } = {}) {
      const headers = { 'If-Match': ifMatch };
      const path = `/book/${id}`;
      const { book, etag } = await callForBook({ method: 'PUT', path, headers, body, signal });
      return { book, etag };
    },

    async deleteBook(id, { ifMatch, signal } = {}) {
      const headers = { 'If-Match': ifMatch };
      await call({ method: 'DELETE', path: `/book/${id}`, headers, signal });
    },

    async *listBooks({ after = 0, pageSize = 1000, signal } = {}) {
      let query: string | undefined = `?limit=${pageSize}&after=${after}`;
      while (query !== undefined) {
        const { headers, data } = await call({ method: 'GET', path: `/books${query}`, signal });
        yield* data as readonly Book[];
        query = /<[^>?]*(\?[^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
      }
    },
  };
}
