/** A retry that is about to begin: the failure of the last attempt, and the wait until the next one. */
export type Retry = { readonly reason: string; readonly waitMs: number };

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
 * least `Retry-After`. Returns or throws the outcome of the last attempt.
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
    const reason = result === undefined ? describeConnectionLoss(failure) : describeResponse(result);
    await wait({ waitMs, reason });
  }
}

/** @returns a text like "the service responded 503 Service unavailable" */
export function describeResponse({ response, error }: { response: Response; error?: unknown }): string {
  // A proxy in front of the service may respond without the envelope.
  const { message = response.statusText } = (error ?? {}) as { readonly message?: string };
  return `the service responded ${response.status} ${message}`.trimEnd();
}

export function describeConnectionLoss(error: unknown): string {
  // `fetch` wraps the error of the connection.
  const { code, message } = ((error as Error).cause ?? error) as { readonly code?: unknown; readonly message: string };
  // The code of a DOMException is a number.
  return `no response (${typeof code === 'string' ? code : message})`;
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
