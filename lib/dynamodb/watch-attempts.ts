import type { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

/** What the service has seen of the attempts that the SDK makes at one command. */
export interface Attempts {
  /**
   * Whether an attempt failed that may have been carried out all the same: its answer broke off, never came, or was a
   * 5xx. A 4xx, throttling for one, says that it was not.
   */
  readonly answerLost: boolean;
}

/**
 * Watches the attempts at a command, of which the SDK itself tells nothing but their number.
 *
 * @param command - a command that is about to be sent
 * @returns what was seen so far; it changes while the command runs
 */
export function watchAttempts(command: PutCommand | UpdateCommand | DeleteCommand): Attempts {
  const attempts = { answerLost: false };
  // The three stacks differ in what they take and give, and this looks at neither.
  const middleware = command.middlewareStack as PutCommand['middlewareStack'];
  middleware.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        const { httpStatusCode = 0 } = (error as MaybeServiceException).$metadata ?? {};
        if (httpStatusCode < 400 || httpStatusCode >= 500) attempts.answerLost = true;
        throw error;
      }
    },
    // The last step before the request leaves runs once for each attempt.
    { step: 'deserialize', priority: 'high' },
  );
  return attempts;
}

interface MaybeServiceException {
  readonly $metadata?: { readonly httpStatusCode?: number };
}
