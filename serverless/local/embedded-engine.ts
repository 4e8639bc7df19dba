import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Starts the embedded DynamoDB engine on a free loopback port, with its data in an existing folder, in a thread of its own,
 * for the life of the process. Any error (the disk is full, a file is damaged, the folder is gone) ends the thread with its
 * connections, so a write that may be incomplete is never acknowledged. The next start recovers every acknowledged write,
 * as after a crash.
 *
 * @param onFailure - gets the error that ended the engine after its start
 * @returns the endpoint
 * @throws when the folder cannot be opened
 */
export async function startEmbeddedEngine(folder: string, onFailure: (error: Error) => void) {
  const worker = new Worker(new URL('engine-thread.ts', import.meta.url), { workerData: folder });
  const [port] = await once(worker, 'message');
  worker.unref(); // the engine must not keep the process alive
  worker.once('error', onFailure);
  return `http://127.0.0.1:${port}`;
}
