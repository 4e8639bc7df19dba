import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

const beatMs = 500; // several in the two seconds after which the thread calls the event loop blocked

/**
 * Calls a function at SIGINT and SIGTERM. While the event loop is blocked, as by an endless loop in a handler, no listener
 * would run: a thread then prints where, and removes the listeners, so that the signals end the process.
 */
export function onStopSignal(stop: () => void): void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const beat = () => {
    Atomics.add(beats, 0, 1);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      if (!process.listeners(signal).includes(stop)) process.on(signal, stop);
    }
  };
  beat();
  // A breakpoint blocks the event loop as well.
  if (debuggerUrl() !== undefined) return;
  setInterval(beat, beatMs).unref();
  new Worker(new URL('stop-signals-thread.ts', import.meta.url), { workerData: beats }).unref();
}
