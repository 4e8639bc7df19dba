import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Starts the embedded DynamoDB engine in a thread of its own, on a free loopback port. It runs as long as the process.
 *
 * Any error ends the thread with its connections: the disk is full, a file is damaged, or the folder is gone. A write
 * that may be incomplete is therefore never acknowledged. The next start recovers every acknowledged write.
 *
 * @param folder - an existing folder, for the data
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
