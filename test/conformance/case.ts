import type { ConformanceContext, Exchange } from './context.ts';

/** One situation and the outcome that every deployment has to give it. Cases are independent of each other. */
export interface ConformanceCase {
  /** A sentence about situation and outcome, unique in the suite. */
  readonly name: string;
  /** Where the outcome is laid down: `specification` and the numbers of its rules, then perhaps a section of an RFC. */
  readonly reference: string;
  readonly group: string;
  /** Whether the context has to know the service's SECRET_TOKEN. */
  readonly needsSecret: boolean;
  /** Whether it reads a list from the first of all books to the last. */
  readonly readsWholeList: boolean;
  /** What it asks about API Gateway, where the outcome is the gateway's and not the service's. */
  readonly gatewayQuestion?: string | undefined;
  /**
   * Runs the case and deletes the books that it made.
   *
   * @param context - the context of the run
   * @param observe - is given each exchange
   * @throws {ExpectationError} when the outcome is another
   */
  run(context: ConformanceContext, observe?: (exchange: Exchange) => void): Promise<void>;
}

/** A case before it belongs to a group. */
export interface CaseDefinition {
  readonly name: string;
  readonly reference: string;
  readonly needsSecret?: boolean;
  readonly readsWholeList?: boolean;
  readonly gatewayQuestion?: string | undefined;
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
  return definitions.map(({ run, ...definition }) => ({
    needsSecret: false,
    readsWholeList: false,
    ...definition,
    group,
    run: async (context, observe) => {
      const fork = context.fork(observe && { observe });
      try {
        await run(fork);
      } finally {
        await fork.cleanUp();
      }
    },
  }));
}
