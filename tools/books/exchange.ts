/** A request below the base URL. */
export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** A whole answer of the service, in its envelope. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
  readonly headers: Headers;
  /** Length of the body's text. */
  readonly size: number;
}

/** What became of a request. */
export type Exchange =
  | Answer
  /** It never left: the service cannot have carried it out. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** No usable answer came: the service may or may not have carried it out. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Above the 29 s after which API Gateway answers by itself. */
const requestTimeoutMs = 35_000;

/** What fails before a request is written: the address is unknown, nobody listens, no way leads there, no TLS. */
const unsentCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
};

/**
 * Sends a request once.
 *
 * @param baseUrl - may end in a path, such as the stage of an API Gateway
 * @param request - what to send
 */
export async function exchange(baseUrl: string, request: Request): Promise<Exchange> {
  const { method, path, token, body } = request;
  // AbortSignal.timeout() would keep each request in memory until its time is up, answered or not.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException('', 'TimeoutError')), requestTimeoutMs);
  try {
    const response = await fetch(baseUrl.replace(/\/$/, '') + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: token }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'manual',
      signal: timeout.signal,
    });
    const text = await response.text();
    return {
      kind: 'answer',
      status: response.status,
      ...readEnvelope(text, response.statusText),
      headers: response.headers,
      size: text.length,
    };
  } catch (error) {
    return classify(error as Error);
  } finally {
    clearTimeout(timer);
  }
}

/** Something in front of the service may answer in a form of its own; then the status has to do. */
function readEnvelope(text: string, fallback: string): { message: string; data: unknown } {
  try {
    const { message, data } = JSON.parse(text) as Record<string, unknown>;
    return { message: String(message ?? fallback), data };
  } catch {
    return { message: fallback, data: undefined };
  }
}

function classify(error: Error): Exchange {
  // fetch wraps what the connection said.
  const cause = (error.cause ?? error) as NodeJS.ErrnoException;
  const unsent = unsentCodes[cause.code ?? ''];
  if (unsent !== undefined) return { kind: 'unsent', reason: unsent };
  if (error.name === 'TimeoutError') {
    return { kind: 'lost', reason: `no answer within ${requestTimeoutMs / 1000} s` };
  }
  return { kind: 'lost', reason: `the connection broke (${cause.code ?? cause.message})` };
}
