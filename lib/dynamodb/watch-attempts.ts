import type { GetCommandOutput, PutCommand, UpdateCommandOutput } from '@aws-sdk/lib-dynamodb';
import { AttemptError } from './attempt-error.ts';

/** What is known of the attempts that the SDK makes at one command. */
export interface Attempts {
  /**
   * Whether an attempt failed that may have been carried out: its response never came, was damaged, or was a 5xx. A
   * 4xx, throttling for one, says that it was not; nor was a request that was never sent.
   */
  readonly responseLost: boolean;
}

/** The parts of a response that may hold an item. */
type Output = Pick<GetCommandOutput & UpdateCommandOutput, 'Item' | 'Attributes'>;

/**
 * Watches the attempts at a command, of which the SDK itself reports only the number.
 *
 * @param command - a command of lib-dynamodb that is about to be sent
 * @param isComplete - tells whether a response holds what the operation has to give; one that does not is retried
 * @returns what is known so far; it changes while the command runs
 */
export function watchAttempts(
  command: { readonly middlewareStack: unknown },
  isComplete: (output: Output) => boolean = () => true,
): Attempts {
  const attempts = { responseLost: false };
  // The types of the stacks differ in input and output only, and of these a part is read that all outputs may have.
  const middleware = command.middlewareStack as PutCommand['middlewareStack'];
  middleware.add(
    (next) => async (args) => {
      try {
        const result = await next(args);
        if (isComplete(result.output as Output)) return result;
        throw new AttemptError('the response lacks what the operation gives', { requestSent: true });
      } catch (error) {
        if (mayHaveBeenCarriedOut(error)) attempts.responseLost = true;
        throw error;
      }
    },
    // The last step before the request leaves runs once for each attempt.
    { name: 'watchAttempt', step: 'deserialize', priority: 'high', override: true },
  );
  return attempts;
}

function mayHaveBeenCarriedOut(error: unknown): boolean {
  if (error instanceof AttemptError) return error.requestSent;
  const { httpStatusCode = 0 } = (error as MaybeServiceException).$metadata ?? {};
  return httpStatusCode < 400 || httpStatusCode >= 500;
}

interface MaybeServiceException {
  readonly $metadata?: { readonly httpStatusCode?: number };
}
