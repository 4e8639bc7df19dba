import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ClassicLevel } from 'classic-level';
import dynalite from 'dynalite';

/**
 * Starts the embedded DynamoDB engine on a free loopback port. It lives as long as the process; what it acknowledged
 * is on disk even when the process is killed.
 *
 * @param path - the folder of its data, made when missing
 * @returns the engine's endpoint
 * @throws an Error that says why the folder cannot be opened
 */
export async function startEmbeddedEngine(path: string): Promise<string> {
  await tryToOpen(path);
  const server = dynalite({ path, createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The engine must not keep the process up on its own.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** The engine itself crashes at its first operation when another process has the folder open. */
async function tryToOpen(path: string): Promise<void> {
  const store = new ClassicLevel(path);
  try {
    await store.open();
  } catch (error) {
    const { cause = error } = error as Error;
    throw cause;
  } finally {
    await store.close();
  }
}
