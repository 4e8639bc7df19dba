import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { EngineThreadData } from './engine-thread.ts';

const restartDelayMs = 500; // a full disk stays full for longer, and clients do not notice this delay

/**
 * The embedded DynamoDB engine, in a thread of its own. Any error (the disk is full, a file is damaged) ends the thread
 * with its connections, so a write that may be incomplete is never acknowledged. A new thread on the same port then
 * opens the folder again, which recovers every acknowledged write, as after a crash.
 */
export class EmbeddedEngine {
  readonly endpoint: string;
  readonly #threadData: EngineThreadData;
  readonly #onFailure: (error: Error) => void;
  /** The last error that ended the thread. */
  failure: Error | undefined;

  private constructor(threadData: EngineThreadData, worker: Worker, onFailure: (error: Error) => void) {
    this.endpoint = `http://127.0.0.1:${threadData.port}`;
    this.#threadData = threadData;
    this.#onFailure = onFailure;
    this.#watch(worker);
  }

  /**
   * Starts the engine on a free loopback port, with its data in an existing folder, for the life of the process. Throws
   * when the folder cannot be opened; `onFailure` gets each new failure after that, before the engine starts again.
   */
  static async start(folder: string, onFailure: (error: Error) => void): Promise<EmbeddedEngine> {
    // A write beyond `ulimit -f` then fails like one on a full disk; without a listener the process would end.
    process.on('SIGXFSZ', () => {});
    const [worker, port] = await startThread({ folder, port: 0 });
    return new EmbeddedEngine({ folder, port }, worker, onFailure);
  }

  #watch(worker: Worker): void {
    worker.unref(); // the engine must not keep the process alive
    worker.once('error', (error: Error) => {
      this.#fail(error);
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    for (;;) {
      try {
        const [worker] = await startThread(this.#threadData);
        return this.#watch(worker);
      } catch (error) {
        this.#fail(error as Error);
        await sleep(restartDelayMs);
      }
    }
  }

  #fail(error: Error): void {
    const known = this.failure?.message === error.message;
    this.failure = error;
    if (!known) this.#onFailure(error);
  }
}

async function startThread(workerData: EngineThreadData): Promise<[worker: Worker, port: number]> {
  const worker = new Worker(new URL('engine-thread.ts', import.meta.url), { workerData });
  const [port] = await once(worker, 'message');
  return [worker, port];
}
