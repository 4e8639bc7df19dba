import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { close, listen } from '../support/loopback-server.ts';
import type { EngineResponse, Exchange, Fault } from './faults.ts';
import { loopbackCertificate } from './loopback-certificate.ts';

/** The requests with a fault; all of them by default. */
interface Rule {
  readonly fault: Fault;
  /** The operations (`PutItem`, …). */
  readonly operations?: readonly string[];
  /** How many requests about the same items fail in sequence. More are the next attempts at the same request. */
  readonly attempts?: number;
}

/** No fault. */
const healthy: Pick<Fault, 'happen'> = {
  async happen({ forward, outgoing }) {
    const { status, headers, body } = await forward();
    outgoing.writeHead(status, headers).end(body);
  },
};

/** More than a healthy exchange takes, and less than a client waits. Under all faults, a quiet machine takes up to 0.4 s. */
const slowMs = 1_000;

/**
 * An HTTP proxy between the DynamoDB client and the engine. Toxiproxy and its like work on connections; a fault of one
 * operation, or of one attempt at it, needs a proxy that parses the requests.
 */
export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

/**
 * Starts a proxy on a free loopback port that forwards everything until a fault is set.
 *
 * @param engineEndpoint - the engine's origin
 * @param options - `isTls`: makes it an HTTPS proxy
 */
export async function startFaultyProxy(engineEndpoint: string, { isTls }: { readonly isTls?: boolean } = {}) {
  const requests: string[] = [];
  const held: (() => Promise<unknown>)[] = [];
  const dead = new WeakSet<Socket>();
  let disturbance: Rule | undefined;
  /** The faults in sequence that the attempts at a request have met. */
  const met = new Map<string, number>();
  let unanswered = 0;
  /**
   * Since when clients wait, by the port of their connection: from its beginning, or from a later request, until the end
   * of the healthy response or of the connection.
   */
  const waiting = new Map<number | undefined, number>();
  let slow = 0;
  const isSlow = (startedAt: number) => performance.now() - startedAt > slowMs;
  const endWait = (port: number | undefined) => {
    const startedAt = waiting.get(port);
    if (startedAt !== undefined && isSlow(startedAt)) slow += 1;
    waiting.delete(port);
  };

  const findFault = (operation: string, body: Buffer): Fault | undefined => {
    const { fault, operations = [operation], attempts = Infinity } = disturbance ?? {};
    const subject = subjectOf(operation, body);
    const faults = met.get(subject) ?? 0;
    const isMet = operations.includes(operation) && faults < attempts;
    met.set(subject, isMet ? faults + 1 : 0);
    return isMet ? fault : undefined;
  };

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { headers, socket } = incoming;
    if (dead.has(socket)) {
      unanswered += 1;
      return;
    }
    const { remotePort } = socket;
    if (!waiting.has(remotePort)) waiting.set(remotePort, performance.now());
    outgoing.once('finish', () => endWait(remotePort));
    const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
    requests.push(operation);
    const body = Buffer.concat(await incoming.toArray());
    const fault = findFault(operation, body);
    if (fault) waiting.delete(remotePort);
    const forward = () => forwardTo(engineEndpoint, incoming, body);
    const isSame = (other: Socket) => other.remotePort === remotePort;
    const exchange: Exchange = {
      outgoing,
      forward,
      hold: () => void held.push(hold(socket, forward)),
      reset: () => [...sockets.tcp].findLast(isSame)?.resetAndDestroy(),
    };
    await (fault ?? healthy).happen(exchange);
  };
  const handle: RequestListener = (incoming, outgoing) => {
    respond(incoming, outgoing).catch(() => incoming.socket.destroy());
  };
  const server = isTls ? createTlsServer(loopbackCertificate, handle) : createServer(handle);
  // An idle connection ends by `endConnections` alone.
  server.keepAliveTimeout = 0;
  const sockets = { tcp: new Set<Socket>(), http: new Set<Socket>() };
  const track = (open: Set<Socket>) => (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  server.on('connection', track(sockets.tcp));
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket;
    waiting.set(remotePort, performance.now());
    socket.once('close', () => endWait(remotePort));
  });
  server.on(isTls ? 'secureConnection' : 'connection', track(sockets.http));

  const port = await listen(server);
  /** Delivers the held requests of timed-out attempts. @returns their number */
  const deliverHeld = async () => (await Promise.all(held.splice(0).map((deliver) => deliver()))).length;
  return {
    endpoint: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`,
    /** The number of requests of an operation (`PutItem`, …). */
    countRequests: (operation: string) => requests.filter((each) => each === operation).length,
    /** The number of requests on connections that are dead. */
    countUnanswered: () => unanswered,
    /** The number of slow exchanges without a fault, of which a client may have given up some: the machine is busy. */
    countSlow: () => slow + [...waiting.values()].filter(isSlow).length,
    countConnections: () => sockets.tcp.size,
    /** Gives the operations of the requests, and forgets them. */
    takeRequests: () => requests.splice(0),
    /** Fails requests until `heal` is called. */
    disturb(next: Rule) {
      disturbance = next;
      met.clear();
    },
    /** Breaks all connections and refuses new ones until `heal` is called. */
    refuseConnections: () => close(server),
    /** Ends all connections: with a reset, cleanly, or by responding no more, as after a lost mapping of a NAT. */
    endConnections(end: 'reset' | 'closed' | 'dead') {
      for (const socket of sockets[end === 'reset' ? 'tcp' : 'http']) {
        if (end === 'reset') socket.resetAndDestroy();
        else if (end === 'closed') socket.end();
        else dead.add(socket);
      }
    },
    deliverHeld,
    /** Delivers held requests, clears the remaining faults, and forwards everything again. */
    async heal() {
      disturbance = undefined;
      await deliverHeld();
      if (!server.listening) await listen(server, port);
    },
    stop: () => close(server),
  };
}

/** Names what a request is about. All attempts at it are about the same, and only they, if a test has one such at a time. */
function subjectOf(operation: string, body: Buffer): string {
  const { Key, Item, TransactItems, ...others } = JSON.parse(body.toString());
  const { shard, id } = Key ?? Item ?? TransactItems?.[0].Put.Item ?? {};
  return JSON.stringify([operation, id === undefined ? others : [shard, id]]);
}

/** Holds a request in transit. @returns what delivers it once its client has given it up */
function hold(socket: Socket, forward: () => Promise<unknown>): () => Promise<unknown> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return () => closed.then(forward);
}

async function forwardTo(
  engineEndpoint: string,
  { method = 'POST', headers }: IncomingMessage,
  body: Buffer,
): Promise<EngineResponse> {
  const options = { method, headers, agent: false };
  const [response] = await once(request(engineEndpoint, options).end(body), 'response');
  const received = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body: received };
}
