/** The start and end of an operation, on any monotonic clock. */
export interface Interval {
  /** When the client sent it. */
  readonly invoked: number;
  /** When its response arrived; `Infinity` without a response: it may take effect at any time, or never. */
  readonly returned: number;
}

/**
 * Searches an order of operations that explains the responses of concurrent clients: a linearization (Herlihy and Wing,
 * "Linearizability", 1990), found by the search of Wing and Gong with Lowe's memory of what was tried already. An operation
 * that had ended before another began comes before it. Those without a response are in the order only where they are needed.
 *
 * @param initial - the state before the first operation
 * @param operations - what the clients did
 * @param apply - the specification: the state after an operation, or `undefined` when its response is impossible in the
 *   given state
 * @param describe - a text that is the same for equal states and for no others
 * @returns the operations in such an order, or `undefined` when there is none
 */
export function findOrder<State, Operation extends Interval>(
  initial: State,
  operations: readonly Operation[],
  apply: (state: State, operation: Operation) => State | undefined,
  describe: (state: State) => string,
): Operation[] | undefined {
  const byInvocation = operations.toSorted((a, b) => a.invoked - b.invoked);
  const tried = new Set<string>();

  const search = (state: State, left: readonly Operation[]): Operation[] | undefined => {
    const deadline = Math.min(...left.map(({ returned }) => returned));
    if (deadline === Number.POSITIVE_INFINITY) return [];
    const situation = `${left.map((operation) => byInvocation.indexOf(operation))} ${describe(state)}`;
    if (tried.has(situation)) return undefined;
    tried.add(situation);
    for (const operation of left) {
      // An operation that began after another's response cannot precede it.
      if (operation.invoked > deadline) break;
      const next = apply(state, operation);
      if (next === undefined) continue;
      const rest = search(
        next,
        left.filter((other) => other !== operation),
      );
      if (rest) return [operation, ...rest];
      // What changes nothing could come first in any order.
      if (next === state) return undefined;
    }
    return undefined;
  };
  return search(initial, byInvocation);
}
