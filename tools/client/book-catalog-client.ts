import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch';
import { BookCatalogError } from './book-catalog-error.ts';
import { createRetries, type RetryPolicy, untilAborted } from './retries.ts';
import type { components, paths } from './types.ts';

export { BookCatalogError } from './book-catalog-error.ts';

/** The service and its credentials. A given `fetch` has time limits of its own; `Request` makes its argument. */
export interface BookCatalogOptions extends Pick<ClientOptions, 'fetch' | 'Request'> {
  /** May end in a path, such as the stage of an API Gateway. */
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  /** The retry policy; retries for a minute by default. */
  readonly retries?: Partial<RetryPolicy>;
}

type Json = 'application/json';

export type Book = components['schemas']['Book'];

/** Which books to read, and how many at a time. */
export interface BooksOptions {
  /** 1 to 1000, the default. */
  readonly pageSize?: number;
  /** Only books with higher ids; 0 by default. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** Calls the service by the paths of openapi.yaml; `data` and `error` of a response are its envelopes. */
export interface BookCatalogClient extends Pick<Client<paths, Json>, 'GET' | 'POST' | 'PUT' | 'DELETE'> {
  /**
   * Reads all books in the order of their ids, page by page. It retries a page that fails.
   *
   * @throws {BookCatalogError} when the service refuses a page
   */
  books(options?: BooksOptions): AsyncGenerator<Book, void, void>;
}

/** The options that this client handles itself. */
interface CallOptions {
  readonly params?: { readonly header?: Readonly<Record<string, string>> };
  readonly signal?: AbortSignal;
}

/** A login that several calls may wait for. */
interface Login {
  readonly promise: Promise<string>;
  readonly abort: () => void;
  readonly renewAt: number;
  /** Undefined until the service has responded. */
  token?: string;
  /** How many calls wait for it. */
  waiting: number;
}

/** A token is valid for 15 minutes; one minute less, so that none expires in transit. */
const renewAfterMs = 14 * 60 * 1000;

/** Above API Gateway's integration timeout of 29 s. */
const timeoutMs = 35_000;

/**
 * Makes a client that logs in before its first request, sends the token with each request, and renews it before it
 * expires. It repeats a request once with a new token when the token was refused.
 *
 * It retries logins, GET, and creates with an idempotency key after 429, 502, 503, 504 and a lost connection, with backoff
 * and `Retry-After`; for a few seconds only until the service has responded for the first time. It does not retry PUT and
 * DELETE: a retry of a successful change would get 412 or 404, or undo the change of another client.
 *
 * A call rejects with a {@link BookCatalogError} when the login is refused, with a TypeError that names the base URL when
 * there is no response, and with the reason of its signal when that is aborted.
 *
 * @throws {TypeError} when the base URL is malformed
 */
export function createBookCatalogClient({
  baseUrl,
  username,
  password,
  retries = {},
  ...transport
}: BookCatalogOptions): BookCatalogClient {
  // So that a malformed URL does not look like a lost connection later.
  new URL(baseUrl);
  const http = createFetchClient<paths, Json>({ baseUrl, fetch: fetchInTime, ...transport });
  const retry = createRetries(baseUrl, retries);
  let login: Login | undefined;

  const requestToken = async (signal: AbortSignal): Promise<string> => {
    const send = () => http.POST('/token', { body: { username, password }, signal });
    const { data, error, response } = await retry({ send, isRepeatable: true, signal });
    const token = data?.data?.token;
    if (typeof token !== 'string')
      throw new BookCatalogError(response, error ?? { message: 'no token in the response' });
    return token;
  };

  const logIn = (): Login => {
    const controller = new AbortController();
    const promise = requestToken(controller.signal);
    return { promise, abort: () => controller.abort(), renewAt: Date.now() + renewAfterMs, waiting: 0 };
  };

  /** All calls wait for the same login, which ends when none of them waits any longer. */
  const getToken = async (signal?: AbortSignal): Promise<string> => {
    if (login === undefined || Date.now() >= login.renewAt) login = logIn();
    const current = login;
    current.waiting += 1;
    try {
      current.token = await untilAborted(current.promise, signal);
      return current.token;
    } catch (error) {
      if (current.waiting === 1 && login === current) login = undefined;
      throw error;
    } finally {
      current.waiting -= 1;
      if (current.waiting === 0) current.abort();
    }
  };

  const send =
    (method: 'get' | 'post' | 'put' | 'delete') =>
    async (path: string, { params, ...init }: CallOptions = {}) => {
      const { signal } = init;
      const creates = method === 'post' && path === '/book';
      const isRepeatable = method === 'get' || path === '/token' || creates;
      const header = { ...(creates && { 'Idempotency-Key': crypto.randomUUID() }), ...params?.header };
      const sendWith = (others: Readonly<Record<string, string>>) => {
        const options: Record<string, unknown> = { ...init, params: { ...params, header: { ...header, ...others } } };
        // BookCatalogClient has the types of openapi-fetch; here any path goes with any method.
        return retry({ send: () => http.request(method as 'get', path as '/books', options), isRepeatable, signal });
      };
      if (path === '/token') return sendWith({});
      const token = await getToken(signal);
      const result = await sendWith({ Authorization: token });
      if (result.response.status !== 401) return result;
      // Other calls with the same token then wait for the same login.
      if (login?.token === token) login = undefined;
      return sendWith({ Authorization: await getToken(signal) });
    };

  const methods = { GET: send('get'), POST: send('post'), PUT: send('put'), DELETE: send('delete') };
  const calls = methods as unknown as Omit<BookCatalogClient, 'books'>;

  async function* books({ pageSize = 1000, after = 0, signal }: BooksOptions = {}) {
    let query: PageQuery | undefined = { limit: pageSize, after };
    while (query !== undefined) {
      const { data, error, response } = await calls.GET('/books', { params: { query }, ...(signal && { signal }) });
      if (data === undefined) throw new BookCatalogError(response, error);
      yield* data.data;
      query = findNextPage(response, baseUrl);
    }
  }

  return { ...calls, books };
}

type PageQuery = NonNullable<paths['/books']['get']['parameters']['query']>;

/** Reads the header `Link`, whose address is relative to the page. */
function findNextPage({ headers }: Response, baseUrl: string): PageQuery | undefined {
  const [, address] = /<([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  if (address === undefined) return undefined;
  const { searchParams } = new URL(address, baseUrl);
  return { limit: Number(searchParams.get('limit')), after: Number(searchParams.get('after')) };
}

/** Reading the response counts, too. */
function fetchInTime(request: Request): Promise<Response> {
  return fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) });
}
