import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

const beatMs = 500; // several in the two seconds after which the thread calls the event loop blocked

/**
 * Calls a function at SIGINT and SIGTERM. While the event loop is blocked, as by an endless loop in a handler, no listener
 * would run: a thread then prints where, and removes the listeners, so that the signals end the process.
 */
export function onStopSignal(stop: () => void): void {
  const listen = () => {
    // Replacing a listener would lose a signal that has arrived.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      if (!process.listeners(signal).includes(stop)) process.on(signal, stop);
    }
  };
  listen();
  // A breakpoint blocks the event loop as well.
  if (debuggerUrl() !== undefined) return;
  const thread = new Worker(new URL('stop-signals-thread.ts', import.meta.url));
  thread.unref();
  const beat = () => {
    listen();
    thread.postMessage('beat');
  };
  setInterval(beat, beatMs).unref();
}
