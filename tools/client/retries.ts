/** A retry that is about to begin: the failure of the last attempt, and the wait until the next one. */
export type Retry = { readonly reason: string; readonly waitMs: number };

/** A retry policy. */
export interface RetryPolicy {
  /** How long to retry a request; 0 disables retries. */
  readonly giveUpAfterMs: number;
  /** Waits before the next attempt. The call rejects when it rejects. */
  readonly wait: (retry: Retry) => Promise<void>;
}

/** A request that is sent until it has a response to return. */
export interface Attempts<Result> {
  readonly send: () => Promise<Result>;
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The statuses after which a retry may succeed. */
const retriedStatuses = [429, 502, 503, 504];

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/** Before the first response, a wrong address or a refused origin is more likely than an outage. */
const firstResponseMs = 5_000;

/**
 * Makes the function that sends the requests of a client to a base URL: again until one succeeds, fails for good, or the
 * policy's time is up, with exponential backoff and jitter, and not before `Retry-After`. It returns or throws the outcome
 * of the last attempt, and ends when the signal is aborted.
 */
export function createRetries(baseUrl: string, { giveUpAfterMs = 60_000, wait }: Partial<RetryPolicy>) {
  let hasResponded = false;

  return async function retry<Result extends { readonly response: Response; readonly error?: unknown }>({
    send,
    isRepeatable,
    signal,
  }: Attempts<Result>): Promise<Result> {
    const startedAt = performance.now();
    for (let attempts = 0; ; attempts += 1) {
      const [result, failure] = await send().then(
        (result) => [result, undefined] as const,
        (failure: unknown) => [undefined, failure] as const,
      );
      signal?.throwIfAborted();
      hasResponded ||= result !== undefined;
      if (result !== undefined && !retriedStatuses.includes(result.response.status)) return result;
      if (result === undefined && !isConnectionLoss(failure)) throw failure;
      const reason = result === undefined ? describeConnectionLoss(failure) : describeResponse(result);
      const backoffMs = Math.min(firstDelayMs * 2 ** attempts, maxDelayMs) * (0.5 + Math.random() / 2);
      const waitMs = Math.max(backoffMs, result === undefined ? 0 : readRetryAfter(result.response));
      const limitMs = hasResponded ? giveUpAfterMs : Math.min(giveUpAfterMs, firstResponseMs);
      if (!isRepeatable || performance.now() - startedAt + waitMs > limitMs) {
        if (result === undefined) throw new TypeError(`${baseUrl}: ${reason}`, { cause: findCause(failure) });
        return result;
      }
      await (wait === undefined ? sleep(waitMs, signal) : untilAborted(wait({ waitMs, reason }), signal));
    }
  };
}

/** @returns a text like "the service responded 503 Service unavailable" */
export function describeResponse({ response, error }: { response: Response; error?: unknown }): string {
  // A proxy in front of the service may respond without the envelope.
  const { message = response.statusText } = (error ?? {}) as { readonly message?: string };
  return `the service responded ${response.status} ${message}`.trimEnd();
}

export function describeConnectionLoss(error: unknown): string {
  const { code, message } = findCause(error);
  // The code of a DOMException is a number.
  return `no response (${typeof code === 'string' ? code : message})`;
}

/** `fetch` wraps the error of the connection. */
function findCause(error: unknown) {
  return ((error as Error).cause ?? error) as Error & { readonly code?: unknown };
}

/** Tells whether a request failed without a complete response: no connection, a lost one, or a timeout. */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function readRetryAfter({ headers }: Response): number {
  const value = headers.get('Retry-After') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.max(0, ms || 0);
}

/** Waits for a promise until the signal is aborted. */
export async function untilAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  return Promise.race([promise, aborted]).finally(() => signal?.removeEventListener('abort', stop));
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return untilAborted(promise, signal).finally(() => clearTimeout(timer));
}
