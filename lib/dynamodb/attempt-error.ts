/** One attempt at a request to DynamoDB got no response that can be used. The SDK retries it. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  /** Marks the error as one that the SDK retries. */
  readonly $retryable = {};
  /** Whether DynamoDB may have got the request, and so may have carried it out. */
  readonly requestSent: boolean;

  /**
   * @param message - what went wrong; never text of the response, which may hold a book
   * @param options - `requestSent`, and the `cause`, if there is one
   */
  constructor(message: string, { requestSent, cause }: { requestSent: boolean; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.requestSent = requestSent;
  }
}
