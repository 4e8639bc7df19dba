import type { Outcome } from './outcomes.ts';

/**
 * Ends a request with the given outcome. The client sees the outcome's status and message and nothing else;
 * `cause` is for the log.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly outcome: Outcome;

  /**
   * @param outcome - what the client is told
   * @param options - `cause`: the error behind it, if there is one
   */
  constructor(outcome: Outcome, options?: ErrorOptions) {
    super(outcome.message, options);
    this.outcome = outcome;
  }
}
