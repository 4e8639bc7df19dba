import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Capacity } from './capacity.ts';

/** A proxy between the DynamoDB client and the engine that adds up what is asked for. */
export interface MeteringProxy {
  readonly endpoint: string;
  /** Gives what was asked for since the last reading. */
  read(): Capacity;
  stop(): Promise<void>;
}

const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']);

/**
 * Starts a proxy on a free loopback port. It asks the engine for the consumed capacity that the client does not ask
 * for, which an engine that checks no signatures lets it do.
 *
 * @param engineEndpoint - the engine's origin
 */
export async function startMeteringProxy(engineEndpoint: string): Promise<MeteringProxy> {
  let used = { requests: 0, readUnits: 0, writeUnits: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const { 'content-length': _length, host: _host, connection: _connection, ...headers } = incoming.headers;
    const request = (await json(incoming)) as object;
    const answer = await fetch(engineEndpoint, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: JSON.stringify({ ...request, ReturnConsumedCapacity: 'TOTAL' }),
    });
    const body = await answer.text();
    const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
    const units = JSON.parse(body).ConsumedCapacity?.CapacityUnits ?? 0;
    used.requests += 1;
    used[writes.has(operation) ? 'writeUnits' : 'readUnits'] += units;
    outgoing.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    read() {
      const reading = used;
      used = { requests: 0, readUnits: 0, writeUnits: 0 };
      return reading;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
