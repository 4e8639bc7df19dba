/** The service refused a request, or failed. The text is the message of the envelope. */
export class BookCatalogError extends Error {
  override readonly name = 'BookCatalogError';
  readonly status: number;
  /** The log of the service has it, too: quote it when you report a problem. */
  readonly requestId: string | undefined;

  /** @param envelope - the `error` of a call */
  constructor({ status, statusText, headers }: Response, envelope?: { readonly message?: string }) {
    super(envelope?.message ?? statusText);
    this.status = status;
    this.requestId = headers.get('x-amzn-RequestId') ?? undefined;
  }
}
