import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch';
import { type RetryPolicy, retry } from './retries.ts';
import type { paths } from './types.ts';

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

/** Calls the service by the paths of openapi.yaml; `data` and `error` of a response are its envelopes. */
export type BookCatalogClient = Pick<Client<paths, Json>, 'GET' | 'POST' | 'PUT' | 'DELETE'>;

/** The options that this client handles itself. */
interface CallOptions {
  readonly params?: { readonly header?: Readonly<Record<string, string>> };
  readonly signal?: AbortSignal;
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
 * and `Retry-After`. It does not retry PUT and DELETE: a retry of a successful change would get 412 or 404, or undo the
 * change of another client.
 *
 * A call rejects with a {@link LoginError} when the login is refused, and with the error of `fetch` without a response.
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
  let token: Promise<string> | undefined;
  let knownToken: string | undefined;
  let renewAt = 0;

  const makePolicy = (signal?: AbortSignal): RetryPolicy => ({
    giveUpAfterMs: 60_000,
    wait: ({ waitMs }) => sleep(waitMs, signal),
    ...retries,
  });

  const logIn = async (): Promise<string> => {
    const body = { username, password };
    const { data, error } = await retry(() => http.POST('/token', { body }), makePolicy());
    if (data === undefined) throw new LoginError(error?.message ?? 'no response that can be read');
    knownToken = data.data?.token;
    if (typeof knownToken !== 'string') throw new LoginError('no response that can be read');
    return knownToken;
  };

  http.use({
    async onRequest({ request, schemaPath }) {
      if (schemaPath === '/token') return;
      if (token === undefined || Date.now() >= renewAt) {
        renewAt = Date.now() + renewAfterMs;
        token = logIn();
        token.catch(() => {
          token = undefined;
        });
      }
      request.headers.set('Authorization', await token);
    },
    onResponse({ request, response }) {
      if (response.status !== 401 || request.headers.get('Authorization') !== knownToken) return;
      // Other requests with the same token then wait for the same login.
      knownToken = undefined;
      token = undefined;
    },
  });

  const send =
    (method: 'get' | 'post' | 'put' | 'delete') =>
    async (path: string, { params, ...init }: CallOptions = {}) => {
      const creates = method === 'post' && path === '/book';
      const header = { ...(creates && { 'Idempotency-Key': crypto.randomUUID() }), ...params?.header };
      const options: Record<string, unknown> = { ...init, params: { ...params, header } };
      // BookCatalogClient has the types of openapi-fetch; here any path goes with any method.
      const sendOnce = () => http.request(method as 'get', path as '/books', options);
      const attempt = async () => {
        const result = await sendOnce();
        return result.response.status === 401 && path !== '/token' ? sendOnce() : result;
      };
      const repeatable = method === 'get' || path === '/token' || creates;
      return repeatable ? retry(attempt, makePolicy(init.signal)) : attempt();
    };

  const methods = { GET: send('get'), POST: send('post'), PUT: send('put'), DELETE: send('delete') };
  return methods as unknown as BookCatalogClient;
}

/** The service refused the login; the text is the message of its envelope. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}

/** Reading the response counts, too. */
function fetchInTime(request: Request): Promise<Response> {
  return fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) });
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
