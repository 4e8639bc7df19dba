/** A response, as far as an error needs it. */
type FailedResponse = { readonly status: number; readonly headers: Pick<Headers, 'get'> };

/** The service did not do what a call asked for: it refused the request, failed, or did not respond. */
export class BookCatalogError extends Error {
  override readonly name = 'BookCatalogError';
  /** The status of the response; `undefined` when none arrived, or when it broke off. */
  readonly status: number | undefined;
  /** The log of the service has it, too: quote it when you report a problem. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait before a retry; 0 when it does not ask. */
  readonly retryAfterMs: number;

  /** @param message - that of the envelope, or what went wrong when there is no envelope */
  constructor(message: string, response?: FailedResponse, options?: ErrorOptions) {
    super(message, options);
    this.status = response?.status;
    this.requestId = response?.headers.get('x-amzn-RequestId') ?? undefined;
    this.retryAfterMs = readRetryAfter(response?.headers.get('Retry-After') ?? '');
  }
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function readRetryAfter(value: string): number {
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.max(0, ms || 0);
}
