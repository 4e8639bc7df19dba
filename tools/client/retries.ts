/** Why a request is about to be sent again. */
export interface Retry {
  /** What became of the last attempt, in a few words. */
  readonly reason: string;
  /** The wait until the next attempt. */
  readonly waitMs: number;
}

/** When to send a request again. */
export interface RetryPolicy {
  /** How long to go on with a request that does not succeed; 0 sends it once. */
  readonly giveUpAfterMs: number;
  /** Waits before the next attempt. When it rejects, so does the call. */
  readonly wait: (retry: Retry) => Promise<void>;
}

/** Throttled, or not carried out to the end: what a service or a gateway in front of it may recover from. */
const retriedStatuses = [429, 502, 503, 504];

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/**
 * Makes attempts until one succeeds, fails for good, or the policy's time is up. Attempts are further apart each time,
 * at random so that many clients spread out, and never closer than `Retry-After` asks.
 *
 * @param attempt - sends a request that may be carried out more than once
 * @param policy - how long to go on
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
  // Something in front of the service may respond in a form of its own.
  const { message = response.statusText } = (error ?? {}) as { readonly message?: string };
  return `the service responded ${response.status} ${message}`.trimEnd();
}

/** @param error - what {@link isConnectionLoss} holds for */
export function describeConnectionLoss(error: unknown): string {
  // `fetch` wraps the error of the connection.
  const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return `no response (${code ?? message})`;
}

/**
 * Tells whether a request failed without a whole response: the connection was never made, broke, or took too long.
 *
 * @param error - what an attempt threw
 */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function readRetryAfter({ headers }: Response): number {
  const value = headers.get('Retry-After') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.max(0, ms || 0);
}
