import { AsyncLocalStorage } from 'node:async_hooks';

const invocation = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs what an invocation does, so that all of it can tell whether the invocation is over.
 *
 * @param signal - is aborted when the invocation ends before this does
 * @param action - what the invocation does
 */
export function runInvocation<Result>(signal: AbortSignal, action: () => Result): Result {
  return invocation.run(signal, action);
}

/** @returns the signal of the invocation that asks; `undefined` outside of one, as while an instance starts */
export function invocationSignal(): AbortSignal | undefined {
  return invocation.getStore();
}
