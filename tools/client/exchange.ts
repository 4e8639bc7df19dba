import { BookCatalogError } from './book-catalog-error.ts';

/** One request, as `fetch` takes it. */
export interface RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** A redirect would make a GET of a POST. */
  readonly redirect: 'manual';
  /** Ends the request, and the reading of its response. */
  readonly signal: AbortSignal;
}

/** What the client needs of a `Response`, so that those of undici fit, too. */
interface FetchedResponse {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly body?: object | null;
  /** Reads a body that is not a stream of the web, as in React Native, in node-fetch and in mocks. */
  text(): Promise<string>;
}

/** A stream of bytes. */
interface Body {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> };
}

/** What sends the requests: the global `fetch`, or another function of its kind. */
export type Fetch = (url: string, options: RequestOptions) => Promise<FetchedResponse>;

/** A request, as a call of the client makes it. */
export interface Outgoing extends Omit<RequestOptions, 'signal' | 'redirect'> {
  readonly signal: AbortSignal | undefined;
}

/** A success: the `data` of its envelope, `undefined` for a 304. */
export type Success = Pick<FetchedResponse, 'status' | 'headers'> & { readonly data: unknown };

/**
 * How long to wait for the next byte. The service begins every response within 29 s, API Gateway's integration timeout for
 * all but lists. A list begins after its first Query, and may take minutes as a whole.
 */
const idleTimeoutMs = 35_000;

/** The length of a text that is quoted in an error. */
const quotedLength = 200;

/**
 * Sends a request once, and reads its response. It follows no redirect.
 *
 * @throws {BookCatalogError} when the response is not a success in the envelope of the service, or there is none
 * @throws the reason of the signal when it is aborted
 */
export async function exchange(fetch: Fetch, url: string, { signal, ...request }: Outgoing): Promise<Success> {
  const { response, text } = await receive(fetch, url, { signal, ...request }).catch((error: unknown) => {
    signal?.throwIfAborted();
    const cause = findCause(error);
    // The code of a DOMException is a number.
    const reason = typeof cause.code === 'string' ? cause.code : cause.message;
    throw new BookCatalogError(`no response from ${url} (${reason})`, undefined, { cause });
  });
  const { status, headers } = response;
  if (status === 304 && 'if-none-match' in request.headers) return { status, headers, data: undefined };
  const isSuccess = status >= 200 && status < 300;
  const envelope = parseEnvelope(text, status);
  if (envelope !== undefined) {
    if (isSuccess) return { status, headers, data: envelope.data };
    throw new BookCatalogError(envelope.message, response);
  }
  // A browser shows a redirect as a response with the status 0 and without headers.
  if (status === 0 || (status >= 300 && status < 400 && status !== 304)) {
    const target = headers.get('Location') ?? 'another address';
    throw new BookCatalogError(`${url} redirects to ${target}, which the client does not follow`, response);
  }
  // A proxy that speaks HTTP/1.0 to the service passes on a response that broke off as if it were whole.
  if (isSuccess && status !== 204 && isCutOff(text)) throw new BookCatalogError(`the response from ${url} broke off`);
  const quoted = text.trim().slice(0, quotedLength);
  throw new BookCatalogError(`no envelope in the response from ${url}: ${JSON.stringify(quoted)}`, response);
}

/** Receives a whole response, unless nothing arrives for too long. */
async function receive(fetch: Fetch, url: string, { signal, ...request }: Outgoing) {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expectByte = () => {
    clearTimeout(timer);
    const giveUp = () => controller.abort(new Error(`nothing arrived for ${idleTimeoutMs / 1000} s`));
    timer = setTimeout(giveUp, idleTimeoutMs);
  };
  try {
    expectByte();
    const response = await fetch(url, { ...request, redirect: 'manual', signal: controller.signal });
    const { body } = response;
    const isStream = body && 'getReader' in body;
    return { response, text: isStream ? await readText(body as Body, expectByte) : await response.text() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

async function readText(body: Body, onChunk: () => void): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    onChunk();
    text += decoder.decode(value, { stream: true });
  }
}

/** @returns `undefined` when the body is not from the service, but from a proxy, for example */
function parseEnvelope(text: string, status: number): { readonly message: string; readonly data: unknown } | undefined {
  const value = parseJson(text) as Partial<Record<'status' | 'message' | 'data', unknown>> | null | undefined;
  if (value?.status !== status || typeof value.message !== 'string' || value.data === undefined) return undefined;
  return { message: value.message, data: value.data };
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
