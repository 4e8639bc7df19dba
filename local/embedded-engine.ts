import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';

/**
 * Starts the embedded DynamoDB engine on a free loopback port. It lives as long as the process; what it acknowledged
 * is on disk even when the process is killed.
 *
 * @param path - the folder of its data, made when missing
 * @returns the engine's endpoint
 */
export async function startEmbeddedEngine(path: string): Promise<string> {
  const server = dynalite({ path, createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The engine must not keep the process up on its own.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
