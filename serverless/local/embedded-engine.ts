import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { EngineThreadData } from './engine-thread.ts';

/** A disk that is full stays so for longer, and a client that waits for the service notices no difference. */
const restartDelayMs = 500;

/**
 * The embedded DynamoDB engine, in a thread of its own. Whatever it throws (the disk is full, a file is damaged) ends that
 * thread with its connections, so a write that may be incomplete is never acknowledged. A new thread then opens the folder
 * again, which recovers what was acknowledged, as after a crash. It listens on the same port.
 */
export class EmbeddedEngine {
  readonly endpoint: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #onFailure: (error: Error) => void;
  #failure: Error | undefined;

  private constructor(folder: string, thread: Thread, onFailure: (error: Error) => void) {
    this.#folder = folder;
    this.#port = thread.port;
    this.#onFailure = onFailure;
    this.endpoint = `http://127.0.0.1:${thread.port}`;
    this.#watch(thread);
  }

  /**
   * Starts the engine on a free loopback port. It lives as long as the process.
   *
   * @param folder - the folder of its data, which exists
   * @param onFailure - is told of each failure, before the engine is started again
   * @throws an Error that says why the folder cannot be opened
   */
  static async start(folder: string, onFailure: (error: Error) => void): Promise<EmbeddedEngine> {
    // A file at the limit of `ulimit -f` is to fail like one on a full disk; the framework would end the process.
    process.on('SIGXFSZ', () => {});
    return new EmbeddedEngine(folder, await startThread({ folder, port: 0 }), onFailure);
  }

  /** What ended the engine the last time, if anything did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  #watch({ worker }: Thread): void {
    // The engine must not keep the process up on its own.
    worker.unref();
    worker.once('error', (error: Error) => {
      this.#fail(error);
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    for (;;) {
      try {
        return this.#watch(await startThread({ folder: this.#folder, port: this.#port }));
      } catch (error) {
        this.#fail(error as Error);
        await sleep(restartDelayMs);
      }
    }
  }

  #fail(error: Error): void {
    const known = this.#failure?.message === error.message;
    this.#failure = error;
    if (!known) this.#onFailure(error);
  }
}

interface Thread {
  readonly worker: Worker;
  readonly port: number;
}

async function startThread(workerData: EngineThreadData): Promise<Thread> {
  const worker = new Worker(new URL('engine-thread.ts', import.meta.url), { workerData });
  const [port] = await once(worker, 'message');
  return { worker, port };
}
