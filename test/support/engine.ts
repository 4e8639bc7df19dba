import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';

/** A DynamoDB engine in this process. */
export interface Engine {
  readonly port: number;
  /** Its origin, the endpoint of DB_URL. */
  readonly endpoint: string;
  /** Stops it and breaks the connections that are open. */
  stop(): Promise<void>;
}

/**
 * Gives the engine that most tests run against: the one that TEST_DYNAMODB_ENDPOINT names (another implementation of
 * DynamoDB, which `stop` leaves running), or else one in this process.
 */
export async function provideEngine(): Promise<Engine> {
  const endpoint = process.env.TEST_DYNAMODB_ENDPOINT;
  if (endpoint === undefined) return startEngine();
  return { endpoint, port: Number(new URL(endpoint).port), async stop() {} };
}

/**
 * Starts an engine on a loopback port.
 *
 * @param options - `port`: a free one by default; `path`: the folder of its data, in memory by default
 */
export async function startEngine(options: { port?: number; path?: string } = {}): Promise<Engine> {
  const server = dynalite({ createTableMs: 0, ...(options.path && { path: options.path }) });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
