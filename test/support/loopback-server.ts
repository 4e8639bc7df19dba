import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Server as TcpServer } from 'node:net';

/** Listens on a loopback port, a free one by default. @returns the port */
export async function listen(server: TcpServer, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Stops a server and breaks its open connections. */
export async function close(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
