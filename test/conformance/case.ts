import type { ConformanceContext } from './context.ts';

/** One situation and the outcome that every deployment has to give it. Cases are independent of each other. */
export interface ConformanceCase {
  /** A sentence about situation and outcome, unique in the suite. */
  readonly name: string;
  /** Where the outcome is laid down: `specification` and the numbers of its rules, then perhaps a section of an RFC. */
  readonly reference: string;
  readonly group: string;
  /** Whether the context has to know the service's SECRET_TOKEN. */
  readonly needsSecret: boolean;
  /**
   * Runs the case and deletes the books that it made.
   *
   * @throws {ExpectationError} when the outcome is another
   */
  run(context: ConformanceContext): Promise<void>;
}

/** A case before it belongs to a group. */
export interface CaseDefinition {
  readonly name: string;
  readonly reference: string;
  readonly needsSecret?: boolean;
  run(context: ConformanceContext): Promise<void>;
}

/**
 * Makes the cases of one group.
 *
 * @param group - the name under which they can be left out or asked for
 * @param definitions - the cases
 */
export function defineCases(
  group: string,
  definitions: readonly CaseDefinition[],
): readonly ConformanceCase[] {
  return definitions.map(({ name, reference, needsSecret = false, run }) => ({
    name,
    reference,
    group,
    needsSecret,
    run: async (context) => {
      const fork = context.fork();
      try {
        await run(fork);
      } finally {
        await fork.cleanUp();
      }
    },
  }));
}
