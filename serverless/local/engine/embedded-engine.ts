import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Starts the embedded DynamoDB engine in a thread of its own, on a free loopback port, with an access key id that this
 * process alone knows. It runs as long as the process. After an error of the store it serves no requests; the next start
 * recovers every acknowledged write.
 *
 * Without the thread, the plugin would import the engine. But the framework loads plugins by `require`, which refuses modules
 * that await while they load, as engine-operations.ts does.
 *
 * @param path - an existing folder, for the data
 * @param onFailure - gets the error that ended the engine after its start
 * @returns the endpoint and its access key id
 * @throws when the folder cannot be opened
 */
export async function startEmbeddedEngine(path: string, onFailure: (error: Error) => void) {
  const accessKeyId = randomBytes(16).toString('hex');
  const worker = new Worker(new URL('engine-thread.ts', import.meta.url), { workerData: { path, accessKeyId } });
  const [port] = await once(worker, 'message');
  worker.once('message', onFailure);
  worker.once('error', onFailure);
  worker.unref(); // The engine must not keep the process alive, which a listener of messages does.
  return { endpoint: `http://127.0.0.1:${port}`, accessKeyId };
}
