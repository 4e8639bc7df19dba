import type { Book, BookFields } from '../../lib/books/book.ts';
import { parseBaseUrl } from './base-url.ts';
import { BookCatalogError } from './book-catalog-error.ts';
import { exchange, type Fetch, type RequestOptions, type Success } from './exchange.ts';
import { awaitToken, shareLogin } from './login.ts';
import { createRetries, type RetryPolicy, untilAborted } from './retries.ts';

export type { Book } from '../../lib/books/book.ts';
export { BookCatalogError } from './book-catalog-error.ts';

/** The link to the next page, as the service writes it. A proxy may add other links. */
const nextPage = /<\?[^<>]*>; rel="next"/;

/** The length of data that is quoted in an error. */
const quotedLength = 200;

/** The service, and how to get a token for it. */
export type BookCatalogOptions = {
  /** Begins with `http://` or `https://`. It may end in a path, such as the stage of an API Gateway. */
  readonly baseUrl: string;
  /** How long to retry: 30 seconds by default. */
  readonly retries?: RetryPolicy | undefined;
  /** Sends the requests instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
} & (
  | { readonly username: string; readonly password: string; readonly getToken?: undefined }
  | {
      readonly username?: undefined;
      readonly password?: undefined;
      /** Gets a token, such as from your own server. When it fails, or takes 35 s, so does the call. */
      readonly getToken: () => string | Promise<string>;
    }
);

/** Fields of a book. One that is `undefined` counts as absent, like any option of the client. */
type SomeFields = { readonly [Name in keyof BookFields]?: BookFields[Name] | undefined };

/** The fields of a new book. The service stores the default of one that is missing: `""` or `0`. */
export type NewBook = SomeFields;

/** The fields of a book to change. The others stay. */
export type BookChanges = SomeFields;

export interface CallOptions {
  /** Ends the call with its retries. A login goes on for other calls. */
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** For 7 days, creates with the same key and fields make one book. A random key by default. */
  readonly idempotencyKey?: string | undefined;
}

export interface FetchOptions extends CallOptions {
  /** Fetches the book only when its entity tag is another one. */
  readonly ifNoneMatch?: string | undefined;
}

export interface ChangeOptions extends CallOptions {
  /** Changes the book only when it has this entity tag; otherwise the call throws an error with the status 412. */
  readonly ifMatch?: string | undefined;
}

/**
 * Filters, and where to begin. A text filter lists the books whose field has each of its words, in any order, whatever the
 * case and the accents. Any other filter lists those whose field equals the value.
 */
export interface ListOptions extends CallOptions, SomeFields {
  /** Only books that have each word of it in one of their texts. */
  readonly q?: string | undefined;
  /** Only books with higher ids; 0 by default. */
  readonly after?: number | undefined;
  /** How many books to read at a time, at most: 1 to 1000, the default. */
  readonly pageSize?: number | undefined;
}

/** The id of a book: a whole number from 1, or its digits, as in the path of a URL. */
export type BookId = number | string;

/** A book and its entity tag, which changes with each change of the book. */
export interface TaggedBook {
  readonly book: Book;
  /** For `ifMatch` and `ifNoneMatch`. Empty when the book has none, which matches nothing. */
  readonly etag: string;
}

/** A book that still has the entity tag of `ifNoneMatch`. */
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
 * the reason of its signal when that is aborted. For an id that no book can have, it throws a {@link TypeError}.
 */
export interface BookCatalogClient {
  /** Creates a book. It has an idempotency key, so a retry creates no second one. */
  createBook(book: NewBook, options?: CreateOptions): Promise<CreatedBook>;
  /** Fetches a book. */
  getBook(id: BookId, options?: CallOptions & { readonly ifNoneMatch?: undefined }): Promise<TaggedBook>;
  /** Fetches a book if it has changed. `book` is undefined when it has not. */
  getBook(id: BookId, options: FetchOptions): Promise<TaggedBook | UnchangedBook>;
  /** Changes the given fields of a book. */
  updateBook(id: BookId, changes: BookChanges, options?: ChangeOptions): Promise<TaggedBook>;
  /** Deletes a book. Its id is never used again. */
  deleteBook(id: BookId, options?: ChangeOptions): Promise<void>;
  /** Reads books in the order of their ids, a page at a time. It retries a page that fails. */
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
 * Makes a client that logs in, or calls `getToken`, before its first request and again after 14 minutes. When a token is
 * refused, it repeats the request once with a new one.
 *
 * It retries logins, reads and creates after 429, 502, 503, 504 and a lost connection, with backoff and `Retry-After`.
 * Until the service has responded for the first time, it retries for a few seconds only. It retries updates and deletions
 * after 429 alone: a retry of a successful change would get 412 or 404, or undo the change of another client.
 *
 * @throws {TypeError} when the base URL is not one of HTTP, or has credentials, a query, a fragment or blanks
 */
export function createBookCatalogClient(options: BookCatalogOptions): BookCatalogClient {
  // Tools that trace or mock requests replace the global `fetch`, perhaps later.
  const { retries = {}, fetch = (url, request) => globalThis.fetch(url, request) } = options;
  const base = parseBaseUrl(options.baseUrl);
  const retry = createRetries(retries);

  const send = ({ method, path, headers = {}, body, signal }: Call) => {
    // `fetch` would report a malformed value as if the connection were lost.
    const given = new Headers(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    if (body) given.set('Content-Type', 'application/json');
    const request = { method, headers: Object.fromEntries(given), body: body ? JSON.stringify(body) : null, signal };
    // A login changes nothing, and a create has a key.
    const isIdempotent = method === 'GET' || method === 'POST';
    return retry({ send: () => exchange(fetch, base + path, request), isIdempotent, signal });
  };

  const login = shareLogin(async () => {
    if (options.getToken !== undefined) {
      const token = await awaitToken(options.getToken());
      // Such as the page of a proxy. It is not kept as the token, so the next call asks again.
      if (!/^\s*[!-~]+\s*$/.test(token)) throw new TypeError('what getToken returned is not a token');
      return token;
    }
    const { username, password } = options;
    const { data } = await send({ method: 'POST', path: '/token', body: { username, password } });
    const { token } = (data ?? {}) as { readonly token?: unknown };
    if (typeof token !== 'string') throw new BookCatalogError('no token in the response to the login');
    return token;
  });

  const call = async (request: Call, isSecond = false): Promise<Success> => {
    const { signal } = request;
    signal?.throwIfAborted();
    const token = login.getToken();
    const headers = { ...request.headers, Authorization: await untilAborted(token, signal) };
    try {
      return await send({ ...request, headers });
    } catch (error) {
      if (isSecond || !(error instanceof BookCatalogError && error.status === 401)) throw error;
      login.forget(token);
      return call(request, true);
    }
  };

  /** @param id - of the book, unless the service chooses it */
  const callForBook = async (request: Call, id?: number) => {
    const success = await call(request);
    const { headers, data } = success;
    // A 304 has no data.
    const isExpected = data === undefined || (isBook(data) && (id === undefined || data.id === id));
    if (!isExpected) throw unexpected(request, success);
    return { book: data, etag: headers.get('ETag') ?? '', headers };
  };

  return {
    async createBook(body, { idempotencyKey, signal } = {}) {
      // `crypto.randomUUID` is missing in a page that was loaded by HTTP from another machine.
      const headers = { 'Idempotency-Key': idempotencyKey ?? crypto.getRandomValues(new Uint32Array(4)).join('-') };
      const created = await callForBook({ method: 'POST', path: '/book', headers, body, signal });
      const book = created.book as Book;
      return { book, etag: created.etag, replayed: created.headers.get('Idempotency-Replayed') !== null };
    },

    async getBook(given: BookId, { ifNoneMatch, signal }: FetchOptions = {}) {
      const id = parseId(given);
      const headers = { 'If-None-Match': ifNoneMatch };
      const path = `/book/${id}`;
      const { book, etag } = await callForBook({ method: 'GET', path, headers, signal }, id);
      // Without the option, the types promise a book, and a 304 is an error.
      return { book: book as Book, etag };
    },

    async updateBook(given, body, { ifMatch, signal } = {}) {
      const id = parseId(given);
      const headers = { 'If-Match': strengthen(ifMatch) };
      const path = `/book/${id}`;
      const { book, etag } = await callForBook({ method: 'PUT', path, headers, body, signal }, id);
      return { book: book as Book, etag };
    },

    async deleteBook(id, { ifMatch, signal } = {}) {
      const headers = { 'If-Match': strengthen(ifMatch) };
      const request: Call = { method: 'DELETE', path: `/book/${parseId(id)}`, headers, signal };
      const success = await call(request);
      if (success.data !== null) throw unexpected(request, success);
    },

    async *listBooks({ after = 0, pageSize = 1000, signal, ...filters } = {}) {
      let last = after;
      for (;;) {
        const path = `/books?${formatQuery({ limit: pageSize, after: last, ...filters })}`;
        const request: Call = { method: 'GET', path, signal };
        const success = await call(request);
        const { headers, data } = success;
        const hasLink = nextPage.test(headers.get('Link') ?? '');
        if (!Array.isArray(data) || (hasLink && data.length === 0)) throw unexpected(request, success);
        for (const book of data as readonly unknown[]) {
          if (!isBook(book) || book.id <= last) throw unexpected(request, { ...success, data: book });
          signal?.throwIfAborted();
          yield book;
          last = book.id;
        }
        signal?.throwIfAborted();
        // The last page has no link. Where a proxy hides it, a full page may be followed by another one.
        if (!hasLink && data.length < pageSize) return;
      }
    },
  };
}

function formatQuery(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

/** @throws {TypeError} for what the service would not take for an id, such as `01`, and for what would change the path */
function parseId(id: BookId): number {
  const number = /^[1-9]\d*$/.test(`${id}`) ? Number(id) : NaN;
  if (!Number.isSafeInteger(number)) throw new TypeError(`"${id}" is not the id of a book, a whole number from 1`);
  return number;
}

/** A proxy that compresses weakens the tags of the service, which are strong. A weak tag never matches (RFC 9110). */
function strengthen(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}

/** Whether a value has an id, as every book has. */
function isBook(value: unknown): value is Book {
  return Number.isSafeInteger((value as Partial<Book> | null)?.id);
}

/** @returns the error for a success whose data this service would not send */
function unexpected({ method, path }: Call, success: Success): BookCatalogError {
  const quoted = JSON.stringify(success.data).slice(0, quotedLength);
  return new BookCatalogError(
    `the data in the response to ${method} ${path} is not of this service: ${quoted}`,
    success,
  );
}
