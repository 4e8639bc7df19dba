/** A retry that is about to begin. */
export interface Retry {
  /** The failure of the last attempt. */
  readonly reason: string;
  /** The wait until the next attempt. */
  readonly waitMs: number;
}

/** A retry policy. */
export interface RetryPolicy {
  /** How long to retry a request; 0 disables retries. */
  readonly giveUpAfterMs: number;
  /** Waits before the next attempt. The call rejects when it rejects. */
  readonly wait: (retry: Retry) => Promise<void>;
}

/** The statuses after which a retry may succeed. */
const retriedStatuses = [429, 502, 503, 504];

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/**
 * Makes attempts until one succeeds, fails for good, or the policy's time is up: exponential backoff with jitter, and at
 * least `Retry-After`.
 *
 * @param attempt - sends a request that may be carried out more than once
 * @returns the result of the last attempt
 * @throws what the last attempt threw
 */
export async function retry<Result extends { readonly response: Response; readonly error?: unknown }>(
  attempt: () => Promise<Result>,
  { giveUpAfterMs, wait }: RetryPolicy,
): Promise<Result> {
  const startedAt = performance.now();
  for (let attempts = 0; ; attempts += 1) {
    const [result, failure] = await attempt().then(
      (result) => [result, undefined] as const,
      (failure: unknown) => [undefined, failure] as const,
    );
    if (result !== undefined && !retriedStatuses.includes(result.response.status)) return result;
    if (result === undefined && !isConnectionLoss(failure)) throw failure;
    const backoffMs = Math.min(firstDelayMs * 2 ** attempts, maxDelayMs) * (0.5 + Math.random() / 2);
    const waitMs = Math.max(backoffMs, result === undefined ? 0 : readRetryAfter(result.response));
    if (performance.now() - startedAt + waitMs > giveUpAfterMs) {
      if (result === undefined) throw failure;
      return result;
    }
    await wait({
      waitMs,
      reason: result === undefined ? describeConnectionLoss(failure) : describeResponse(result),
    });
  }
}

/**
 * @param result - a response, with the body of an error
 * @returns its status and message, such as "the service responded 503 Service unavailable"
 */
export function describeResponse({ response, error }: { response: Response; error?: unknown }): string {
  // A proxy in front of the service may respond without the envelope.
  const { message = response.statusText } = (error ?? {}) as { readonly message?: string };
  return `the service responded ${response.status} ${message}`.trimEnd();
}

/** @param error - one that {@link isConnectionLoss} accepts */
export function describeConnectionLoss(error: unknown): string {
  // `fetch` wraps the error of the connection.
  const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return `no response (${code ?? message})`;
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
