import { AsyncLocalStorage } from 'node:async_hooks';

/** The signal of the current invocation. It aborts when the client gets a 503 because the function's time is over. */
export const invocationSignal = new AsyncLocalStorage<AbortSignal>();
