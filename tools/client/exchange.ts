import { BookCatalogError } from './book-catalog-error.ts';

/** One request, as `fetch` takes it. */
export interface RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers: Headers;
  readonly body: string | null;
  /** Ends the request, and the reading of its response. */
  readonly signal: AbortSignal;
}

/** What the client needs of a `Response`. */
interface FetchedResponse {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly text: () => Promise<string>;
}

/** What sends the requests: the global `fetch`, or another function of its kind. */
export type Fetch = (url: string, options: RequestOptions) => Promise<FetchedResponse>;

/** A success: the `data` of its envelope, `undefined` for a 304. */
export type Success = { readonly headers: FetchedResponse['headers']; readonly data: unknown };

/** Above API Gateway's integration timeout of 29 s. */
const timeoutMs = 35_000;

/** The length of a text that is quoted in an error. */
const quotedLength = 200;

/**
 * Sends a request once, and reads its response.
 *
 * @throws {BookCatalogError} when the response is not a success in the envelope of the service, or there is none
 * @throws the reason of the signal when it is aborted
 */
export async function exchange(
  fetch: Fetch,
  url: string,
  { signal, ...request }: Omit<RequestOptions, 'signal'> & { readonly signal: AbortSignal | undefined },
): Promise<Success> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const options = { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  const read = async () => {
    const response = await fetch(url, options);
    return [response, await response.text()] as const;
  };
  const [response, text] = await read().catch((error: unknown) => {
    signal?.throwIfAborted();
    const cause = findCause(error);
    // The code of a DOMException is a number.
    const reason = typeof cause.code === 'string' ? cause.code : cause.message;
    throw new BookCatalogError(`no response from ${url} (${reason})`, undefined, { cause });
  });
  const { status, headers } = response;
  if (status === 304 && request.headers.has('If-None-Match')) return { headers, data: undefined };
  const isSuccess = status >= 200 && status < 300;
  const envelope = parseEnvelope(text);
  if (envelope !== undefined) {
    if (isSuccess) return { headers, data: envelope.data };
    throw new BookCatalogError(envelope.message, response);
  }
  // A proxy that speaks HTTP/1.0 to the service passes on a response that broke off as if it were whole.
  if (isSuccess && isCutOff(text)) throw new BookCatalogError(`the response from ${url} broke off`);
  const quoted = text.trim().slice(0, quotedLength);
  throw new BookCatalogError(`no envelope in the response from ${url}: ${JSON.stringify(quoted)}`, response);
}

/** @returns `undefined` when another program than the service made the body */
function parseEnvelope(text: string): { readonly message: string; readonly data: unknown } | undefined {
  const value = parseJson(text);
  const isEnvelope = typeof value === 'object' && value !== null && 'message' in value && 'data' in value;
  return isEnvelope && typeof value.message === 'string' ? { message: value.message, data: value.data } : undefined;
}

function isCutOff(text: string): boolean {
  return text === '' || (text.startsWith('{') && parseJson(text) === undefined);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` wraps the error of the connection. */
function findCause(error: unknown) {
  return ((error as Error).cause ?? error) as Error & { readonly code?: unknown };
}
