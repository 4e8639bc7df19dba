import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { close, listen } from '../../tools/runtime/loopback-server.ts';
import { loopbackCertificate } from './loopback-certificate.ts';

/** The faults of a request, and whether the engine carries it out. */
export const faults = {
  'request lost': { carriedOut: false }, // The client's connection breaks.
  'no response': { carriedOut: false },
  'server error': { carriedOut: false }, // HTTP 500
  unavailable: { carriedOut: false }, // HTTP 503
  'unavailable for an hour': { carriedOut: false }, // HTTP 503 with Retry-After
  // The request is still in transit when the attempt times out: `deliverHeld` delivers it.
  'request held': { carriedOut: false },
  throttled: { carriedOut: false }, // HTTP 400, too many requests
  garbage: { carriedOut: false }, // HTTP 200 with an HTML page, as some proxies send it
  'response delayed': { carriedOut: true }, // by a second
  'response lost': { carriedOut: true }, // The client's connection breaks instead of a response.
  'response withheld': { carriedOut: true },
  'response stalls': { carriedOut: true }, // midway
  'response trickles': { carriedOut: true }, // single bytes, so that the connection is not idle
  'response reset': { carriedOut: true }, // midway
  // The request is read and the connection closed cleanly, as DynamoDB does with a connection that it no longer wants.
  'connection closed': { carriedOut: false },
  'head cut': { carriedOut: true }, // The connection is closed cleanly (FIN): midway through the head,
  'body missing': { carriedOut: true }, // after the head,
  'response cut': { carriedOut: true }, // or midway through the body.
  'response altered': { carriedOut: true }, // It has other numbers, as valid JSON with the old checksum.
  'wrong checksum': { carriedOut: true }, // The response is whole.
} as const satisfies Record<string, { readonly carriedOut: boolean }>;

export type Fault = keyof typeof faults;

/** A response with HTTP 200 and the head of a JSON response, and another body than the engine's. */
export interface WrongResponse {
  readonly bodyOf: (body: Buffer) => Buffer;
  /** The response's `x-amz-crc32`: missing, wrong, or right. */
  readonly checksum: 'absent' | 'wrong' | 'right';
}

/** The requests with a fault. */
interface Disturbance {
  readonly fault: Fault | WrongResponse;
  /** The operations (`PutItem`, …); all of them by default. */
  readonly operations?: readonly string[];
  /** The number of attempts of each request; all by default. */
  readonly attempts?: number;
}

/** Long, and below the client's timeout. */
const delayMs = 1_000;

/** Before each byte of a trickling response: below the client's timeout, which two bytes (`{}`) exceed. */
const trickleMs = 1_600;

/** A request, with its read or write units if they are metered. */
export type MeteredRequest = { readonly operation: string; units: number };

type FaultyProxyOptions = Readonly<{ isTls?: boolean; withoutChecksums?: boolean; metersCapacity?: boolean }>;

/**
 * An HTTP proxy between the DynamoDB client and the engine. Toxiproxy and its like work on connections; a fault of one
 * operation, or of one attempt at it, needs a proxy that parses the requests.
 */
export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

/**
 * Starts a proxy on a free loopback port that forwards everything until a fault is set.
 *
 * @param engineEndpoint - the engine's origin
 * @param options - `isTls`: makes it an HTTPS proxy; `withoutChecksums`: the engine behind it sends none;
 *   `metersCapacity`: asks the engine for the consumed capacity of each request, which the product does not
 */
export async function startFaultyProxy(
  engineEndpoint: string,
  { isTls, withoutChecksums, metersCapacity }: FaultyProxyOptions = {},
) {
  const requests: MeteredRequest[] = [];
  const plans: { operation: string; fault: Fault; times: number; after: number }[] = [];
  const held: (() => Promise<unknown>)[] = [];
  const dead = new WeakSet<Socket>();
  let disturbance: Disturbance | undefined;

  const handle: RequestListener = async (incoming, outgoing) => {
    if (dead.has(incoming.socket)) return;
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const entry = { operation, units: 0 };
    requests.push(entry);
    const plan = plans.find((candidate) => candidate.operation === operation && candidate.times > 0);
    const planned = plan && plan.after <= 0 ? plan : undefined;
    if (plan) plan[planned ? 'times' : 'after'] -= 1;
    const current = disturbance && concerns(disturbance, operation, incoming) ? disturbance : undefined;
    const fault = (planned ?? current)?.fault;
    const received = Buffer.concat(await incoming.toArray());
    const body = metersCapacity ? askForCapacity(received) : received;
    const forward = () => forwardTo(engineEndpoint, incoming, body);
    if (fault === 'request held') {
      held.push(hold(incoming.socket, forward));
      return;
    }
    if (typeof fault === 'string' && !faults[fault].carriedOut) return respondInstead(fault, outgoing);
    const response = await forward().catch(() => undefined);
    if (response === undefined) return incoming.socket.destroy();
    if (metersCapacity) entry.units = JSON.parse(String(response.body)).ConsumedCapacity?.CapacityUnits ?? 0;
    if (withoutChecksums) delete response.headers['x-amz-crc32'];
    // A TLS socket cannot be reset; the one below it can.
    const isSame = ({ remotePort }: Socket) => remotePort === incoming.socket.remotePort;
    await spoil(fault, response, outgoing, () => [...sockets.tcp].findLast(isSame)?.resetAndDestroy());
  };
  const server = isTls ? createTlsServer(loopbackCertificate, handle) : createServer(handle);
  const sockets = { tcp: new Set<Socket>(), http: new Set<Socket>() };
  server.on('connection', (socket) => sockets.tcp.add(socket));
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => sockets.http.add(socket));

  const port = await listen(server);
  /** Delivers the held requests of timed-out attempts. @returns their number */
  const deliverHeld = async () => (await Promise.all(held.splice(0).map((deliver) => deliver()))).length;
  return {
    endpoint: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`,
    /** The number of requests of an operation (`PutItem`, …). */
    countRequests: (operation: string) => requests.filter((each) => each.operation === operation).length,
    /** Gives the requests, and forgets them. */
    takeRequests: () => requests.splice(0),
    /** Fails a number of requests of an operation, after a number that pass. */
    injectFault(operation: string, fault: Fault, times: number, after = 0) {
      plans.push({ operation, fault, times, after });
    },
    /** Fails requests until `heal` is called. */
    disturb(next: Disturbance) {
      disturbance = next;
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
      plans.length = 0;
      await deliverHeld();
      if (!server.listening) await listen(server, port);
    },
    stop: () => close(server),
  };
}

function askForCapacity(body: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'TOTAL' }));
}

/** Holds a request in transit. @returns what delivers it once its client has given it up */
function hold(socket: Socket, forward: () => Promise<unknown>): () => Promise<unknown> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return () => closed.then(forward);
}

/** The engine's response to a request. */
interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders & { 'x-amz-crc32'?: string };
  readonly body: Buffer;
}

async function forwardTo(
  engineEndpoint: string,
  { method = 'POST', headers }: IncomingMessage,
  body: Buffer,
): Promise<TestResponse> {
  const options = { method, headers: { ...headers, 'content-length': String(body.length) }, agent: false };
  const [response] = await once(request(engineEndpoint, options).end(body), 'response');
  const received = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body: received };
}

/** The service numbers the attempts of a request. */
function concerns(
  { operations, attempts = Infinity }: Disturbance,
  operation: string,
  request: IncomingMessage,
) {
  const attempt = Number(/attempt\/(\d+)/.exec(String(request.headers['user-agent']))?.[1] ?? 1);
  return (operations?.includes(operation) ?? true) && attempt <= attempts;
}

/** Of a book in each error response: the SDK makes all members of the response those of its error. */
export const storedText = 'a title that no log may show';

/** Responds, or does not respond, to a request that is not forwarded. */
function respondInstead(fault: Fault, outgoing: ServerResponse): void {
  if (fault === 'request lost') outgoing.socket?.destroy();
  if (fault === 'connection closed') outgoing.socket?.end();
  if (fault === 'unavailable for an hour') outgoing.setHeader('Retry-After', '3600');
  if (fault === 'server error') respondWithError(outgoing, 500, 'InternalServerError');
  if (fault.startsWith('unavailable')) respondWithError(outgoing, 503, 'ServiceUnavailable');
  if (fault === 'throttled') respondWithError(outgoing, 400, 'ProvisionedThroughputExceededException');
  if (fault === 'garbage') outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>It works!</h1>');
}

/** Forwards a response with a fault. `reset` ends its connection. */
async function spoil(
  fault: Disturbance['fault'] | undefined,
  response: TestResponse,
  outgoing: ServerResponse,
  reset: () => void,
): Promise<void> {
  const { status, headers, body } = response;
  // Errors of the engine are forwarded unchanged.
  if (typeof fault === 'object' && status < 300) return sendWrong(fault, response, outgoing);
  if (fault === 'wrong checksum')
    return sendWrong({ bodyOf: () => body, checksum: 'wrong' }, response, outgoing);
  if (fault === 'response withheld') return;
  if (fault === 'response lost') {
    outgoing.socket?.destroy();
    return;
  }
  if (fault === 'response delayed') await sleep(delayMs);
  if (fault === 'head cut' || fault === 'body missing' || fault === 'response cut') {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `HTTP/1.1 ${status} OK\r\n${lines.join('')}\r\n`;
    const cut = { 'head cut': head.slice(0, head.length / 2), 'body missing': head };
    const start =
      fault === 'response cut'
        ? Buffer.concat([Buffer.from(head), body.subarray(0, body.length / 2)])
        : cut[fault];
    outgoing.socket?.end(start);
    return;
  }
  outgoing.writeHead(status, headers);
  if (fault === 'response trickles') return trickle(body, outgoing);
  if (fault === 'response stalls' || fault === 'response reset') {
    // Sent as a separate chunk before the connection breaks.
    await new Promise((sent) => outgoing.write(body.subarray(0, body.length / 2), sent));
    if (fault === 'response reset') reset();
    return;
  }
  outgoing.end(fault === 'response altered' ? alterDigits(body) : body);
}

async function trickle(body: Buffer, outgoing: ServerResponse): Promise<void> {
  for (const byte of body) {
    if (outgoing.destroyed) return;
    await sleep(trickleMs);
    outgoing.write(Buffer.from([byte]));
  }
  outgoing.end();
}

function sendWrong(
  { bodyOf, checksum }: WrongResponse,
  response: TestResponse,
  outgoing: ServerResponse,
): void {
  const body = bodyOf(response.body);
  const headers = { ...response.headers, 'content-length': String(body.length) };
  delete headers['x-amz-crc32'];
  if (checksum === 'right') headers['x-amz-crc32'] = String(crc32(body));
  if (checksum === 'wrong') headers['x-amz-crc32'] = String((crc32(body) ^ 1) >>> 0);
  outgoing.writeHead(response.status, headers).end(body);
}

/** Changes the first digit of every number, such as a year, an id or the counter, and keeps the length. */
function alterDigits(body: Buffer): string {
  const text = body.toString();
  const altered = text.replace(/"N":"(\d)/g, (_, digit) => `"N":"${(Number(digit) % 9) + 1}`);
  return altered === text ? text.replace('{', '[') : altered;
}

function respondWithError(outgoing: ServerResponse, status: number, name: string): void {
  outgoing.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
  const item = { title: { S: storedText } };
  outgoing.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name, item }));
}
