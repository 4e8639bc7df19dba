import { BookCatalogError } from './book-catalog-error.ts';

/** A retry that is about to begin: the failure of the last attempt, and the wait until the next one. */
export type Retry = { readonly error: BookCatalogError; readonly waitMs: number };

/** A retry policy. */
export interface RetryPolicy {
  /** How long to retry a request; 0 disables retries. 30 seconds by default. */
  readonly giveUpAfterMs?: number | undefined;
  /** Waits before the next attempt. The call rejects when it rejects. */
  readonly wait?: ((retry: Retry) => Promise<void>) | undefined;
}

/** A request that is sent until it succeeds. */
export interface RetriedRequest<Result> {
  /** Rejects with a {@link BookCatalogError} when a retry may help. */
  readonly send: () => Promise<Result>;
  /** Whether a second attempt does no harm when the first one has reached the service. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignal | undefined;
}

/** A request that API Gateway throttles has not reached the service. */
const throttled = 429;

/** The other statuses after which a retry may succeed. */
const retriedStatuses = [502, 503, 504];

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/** As long as people wait for a page. A job in the background has more time. */
const defaultLimitMs = 30_000;

/** Before the first response, a wrong address or a refused origin is more likely than an outage. */
const firstResponseMs = 5_000;

/**
 * Makes the function that sends the requests of a client. It sends a request again until it succeeds, fails for good, or
 * the policy's time is up. It waits with exponential backoff and jitter, and at least as long as `Retry-After` asks. It
 * returns or throws the outcome of the last attempt, and ends when the signal is aborted.
 */
export function createRetries({ giveUpAfterMs = defaultLimitMs, wait }: RetryPolicy) {
  let hasResponded = false;

  return async function retry<Result>({ send, isIdempotent, signal }: RetriedRequest<Result>): Promise<Result> {
    const startedAt = performance.now();
    for (let attempts = 0; ; attempts += 1) {
      try {
        const result = await send();
        hasResponded = true;
        return result;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof BookCatalogError)) throw error;
        const { status, retryAfterMs } = error;
        hasResponded ||= status !== undefined;
        const mayHelp = status === undefined || retriedStatuses.includes(status);
        const backoffMs = Math.min(firstDelayMs * 2 ** attempts, maxDelayMs) * (0.5 + Math.random() / 2);
        const waitMs = Math.max(backoffMs, retryAfterMs);
        const limitMs = hasResponded ? giveUpAfterMs : Math.min(giveUpAfterMs, firstResponseMs);
        const isInTime = performance.now() - startedAt + waitMs <= limitMs;
        if (!isInTime || !(status === throttled || (isIdempotent && mayHelp))) throw error;
        await (wait === undefined ? sleep(waitMs, signal) : untilAborted(wait({ error, waitMs }), signal));
      }
    }
  };
}

/** Waits for a promise until the signal is aborted. */
export async function untilAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal?.reason);
  });
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  return Promise.race([promise, aborted]).finally(() => signal?.removeEventListener('abort', stop));
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return untilAborted(slept, signal).finally(() => clearTimeout(timer));
}
