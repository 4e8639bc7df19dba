import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { EngineThreadData } from './engine-thread.ts';

const restartDelayMs = 500; // a full disk stays full for longer, and clients do not notice this delay

/**
 * Starts the embedded DynamoDB engine on a free loopback port, with its data in an existing folder, in a thread of its own,
 * for the life of the process. Any error (the disk is full, a file is damaged) ends the thread with its connections, so a
 * write that may be incomplete is never acknowledged. A new thread on the same port then opens the folder again, which
 * recovers every acknowledged write, as after a crash.
 *
 * @param onFailure - gets each new failure, before the engine starts again
 * @returns the endpoint
 * @throws when the folder cannot be opened
 */
export async function startEmbeddedEngine(folder: string, onFailure: (error: Error) => void) {
  let known: string | undefined;
  const report = (error: Error) => {
    if (error.message !== known) onFailure(error);
    known = error.message;
  };
  const start = async (port: number): Promise<number> => {
    const workerData: EngineThreadData = { folder, port };
    const worker = new Worker(new URL('engine-thread.ts', import.meta.url), { workerData });
    const [chosen] = await once(worker, 'message');
    worker.unref(); // the engine must not keep the process alive
    worker.once('error', (error: Error) => {
      report(error);
      void restart(chosen);
    });
    return chosen;
  };
  const restart = async (port: number) => {
    while ((await start(port).catch(report)) === undefined) await sleep(restartDelayMs);
  };
  return `http://127.0.0.1:${await start(0)}`;
}
