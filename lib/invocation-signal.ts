import { AsyncLocalStorage } from 'node:async_hooks';

/** The signal of the invocation that runs: aborted when its client has got a response and nothing more may be sent. */
export const invocationSignal = new AsyncLocalStorage<AbortSignal>();
