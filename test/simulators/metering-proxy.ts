import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';

/** The consumption of a call: requests, read units of 4 KB, write units of 1 KB. */
export type Capacity = Readonly<{ requests: number; readUnits: number; writeUnits: number }>;

/** The consumption of a successful call of each endpoint for books of up to 1 KB; a list has 1,000 books. */
export const capacityOf = {
  'POST /token': { requests: 0, readUnits: 0, writeUnits: 0 },
  'POST /book': { requests: 2, readUnits: 0, writeUnits: 2 },
  'GET /books': { requests: 2, readUnits: 24, writeUnits: 0 },
  'GET /book/{id}': { requests: 1, readUnits: 1, writeUnits: 0 },
  'PUT /book/{id}': { requests: 1, readUnits: 0, writeUnits: 1 },
  'DELETE /book/{id}': { requests: 1, readUnits: 0, writeUnits: 1 },
} as const satisfies Readonly<Record<string, Capacity>>;

/** The check of the table when an instance starts, which the token function does not make. */
export const coldStartCheck: Capacity = { requests: 1, readUnits: 1, writeUnits: 0 };

/** A request that the engine has carried out. */
interface MeteredRequest {
  readonly operation: string;
  /** Read or write units, as the engine counts them. */
  readonly units: number;
}

/** An HTTP proxy between the DynamoDB client and the engine that records the consumption of each request. */
export interface MeteringProxy {
  readonly endpoint: string;
  /** The requests since the last call, in the order of their responses. */
  take(): readonly MeteredRequest[];
  /** The same, added up. */
  takeSum(): Capacity;
  stop(): Promise<void>;
}

const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']);

/**
 * Starts a proxy on a free loopback port. It asks the engine for the consumed capacity of every request, which the
 * product does not, and removes it from the responses.
 *
 * @param engineEndpoint - the engine's origin
 */
export async function startMeteringProxy(engineEndpoint: string): Promise<MeteringProxy> {
  let requests: MeteredRequest[] = [];
  const take = () => {
    const taken = requests;
    requests = [];
    return taken;
  };

  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const input = { ...((await json(incoming)) as object), ReturnConsumedCapacity: 'TOTAL' };
    const body = JSON.stringify(input);
    const headers = { ...incoming.headers, 'content-length': String(Buffer.byteLength(body)) };
    const forwarded = request(engineEndpoint, { method: 'POST', headers, agent: false }).end(body);
    const [received] = await once(forwarded, 'response');
    const { ConsumedCapacity, ...output } = JSON.parse(await text(received));
    requests.push({ operation, units: ConsumedCapacity?.CapacityUnits ?? 0 });
    outgoing.writeHead(received.statusCode, { 'Content-Type': 'application/x-amz-json-1.0' });
    outgoing.end(JSON.stringify(output));
  };
  const server = createServer((incoming, outgoing) => {
    // The client has disconnected, or the engine has stopped.
    forward(incoming, outgoing).catch(() => outgoing.destroy());
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take,
    takeSum() {
      const taken = take();
      const isWrite = ({ operation }: MeteredRequest) => writes.has(operation);
      return {
        requests: taken.length,
        readUnits: sum(taken.filter((metered) => !isWrite(metered))),
        writeUnits: sum(taken.filter(isWrite)),
      };
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function sum(requests: readonly MeteredRequest[]): number {
  return requests.reduce((total, { units }) => total + units, 0);
}
