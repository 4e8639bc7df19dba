import { once } from 'node:events';
import { type ClientRequest, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with a request on its way. */
export type Fault =
  /** Never reaches the engine: the client's connection breaks. */
  | 'request lost'
  /** Is carried out, but the client's connection breaks instead of an answer. */
  | 'answer lost'
  /** Is never answered, and never reaches the engine. */
  | 'no answer'
  /** Is carried out, but the answer stops half-way. */
  | 'answer stalls'
  /** Is answered with HTTP 500 without the engine. */
  | 'server error'
  /** Is refused as throttled without the engine. */
  | 'throttled';

/** An HTTP proxy between the DynamoDB client and the engine. */
export interface FaultyProxy {
  readonly endpoint: string;
  /** How many requests of an operation (`PutItem`, …) arrived. */
  countRequests(operation: string): number;
  /** The operations of which requests arrived. */
  operations(): readonly string[];
  /**
   * Lets requests go wrong from now on.
   *
   * @param operation - which requests
   * @param fault - what happens to them
   * @param times - to how many
   */
  injectFault(operation: string, fault: Fault, times: number): void;
  stop(): Promise<void>;
}

/**
 * Starts a proxy on a free loopback port that passes everything on until it is told otherwise.
 *
 * @param engineEndpoint - the engine's origin
 */
export async function startFaultyProxy(engineEndpoint: string): Promise<FaultyProxy> {
  const counts = new Map<string, number>();
  const faults: { operation: string; fault: Fault; times: number }[] = [];

  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
    const planned = faults.find((plan) => plan.operation === operation && plan.times > 0);
    if (planned) planned.times -= 1;
    const body = Buffer.concat(await incoming.toArray());

    if (planned?.fault === 'no answer') return;
    if (planned?.fault === 'request lost') return incoming.socket.destroy();
    if (planned?.fault === 'server error') return answerError(outgoing, 500, 'InternalServerError');
    if (planned?.fault === 'throttled') {
      return answerError(outgoing, 400, 'ProvisionedThroughputExceededException');
    }

    const { headers, method = 'POST' } = incoming;
    const forwarded = request(engineEndpoint, { headers, method, agent: false });
    const answer = await sendAndReceive(forwarded, body);
    if (planned?.fault === 'answer lost') return incoming.socket.destroy();
    outgoing.writeHead(answer.status, answer.headers);
    if (planned?.fault === 'answer stalls') {
      outgoing.write(answer.body.subarray(0, answer.body.length / 2));
      return;
    }
    outgoing.end(answer.body);
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    countRequests: (operation) => counts.get(operation) ?? 0,
    operations: () => [...counts.keys()],
    injectFault: (operation, fault, times) => {
      faults.push({ operation, fault, times });
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function sendAndReceive(forwarded: ClientRequest, body: Buffer) {
  forwarded.end(body);
  const [answer] = await once(forwarded, 'response');
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: Buffer.concat(await answer.toArray()),
  };
}

function answerError(outgoing: ServerResponse, status: number, name: string): void {
  outgoing.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
  outgoing.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name }));
}
