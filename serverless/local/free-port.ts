import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './start-error.ts';

/**
 * Makes sure that a port can be listened on, before anything is started that would be in vain without it.
 *
 * @param host - address or name to listen on
 * @param port - TCP port
 * @throws {StartError} when the port cannot be had
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'another process is listening there' : message;
    throw new StartError(
      `Port ${port} on ${host} cannot be used: ${reason}. Stop the other process, or start on another port, for ` +
        'example with: npm start -- --httpPort 8081',
      { cause },
    );
  }
  server.close();
  await once(server, 'close');
}
