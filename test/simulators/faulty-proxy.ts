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

/** The engine's response to a request. */
interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders & { 'x-amz-crc32'?: string };
  readonly body: Buffer;
}

/** A request of the client, and what resets its connection: a TLS socket cannot do that, the one below it can. */
interface Exchange {
  readonly outgoing: ServerResponse;
  readonly reset: () => void;
}

/** Long, and below the client's timeout, which two of them exceed. */
const delayMs = 1_600;

/** How a response ends. A slow one comes in single bytes, so that its connection is not idle. */
const endings = {
  silent() {},
  async slow({ outgoing: { socket } }: Exchange, rest: Buffer) {
    for (const byte of rest) {
      await sleep(delayMs);
      if (!socket?.writable) return;
      socket.write(Buffer.of(byte));
    }
  },
  reset: ({ reset }: Exchange) => reset(),
  closed: ({ outgoing: { socket } }: Exchange) => void socket?.end(),
};

/** Where it ends: after which bytes of a head and a body. */
const places = {
  'before the head': () => 0,
  'in the head': (head: number) => head / 2,
  'before the body': (head: number) => head,
  'in the body': (head: number, body: number) => head + body / 2,
  'before the last byte': (head: number, body: number) => head + body - 1,
  'after the body': (head: number, body: number) => head + body,
};

/** Bodies of a response with HTTP 200 other than the engine's. */
const wrongBodies = {
  nothing: () => '',
  'half of the body': (body: Buffer) => body.subarray(0, body.length / 2),
  null: () => 'null',
  '[]': () => '[]',
  'empty items': () => '{"Item":{},"Attributes":{},"Items":[{}],"Count":1}',
  '{}': () => '{}',
  '{"Attributes":{}}': () => '{"Attributes":{}}',
  'other numbers': alterDigits,
  'the same body': (body: Buffer) => body,
};

const checksums = {
  'no checksum': undefined,
  'a wrong checksum': (body: Buffer) => (crc32(body) ^ 1) >>> 0,
  'its checksum': crc32,
};

/** What happens to a request that the engine does not get. */
const refusals = {
  'request ignored'() {},
  // It is in transit when its client gives up; `deliverHeld` delivers it.
  'request held'() {},
  'request lost': ({ reset }: Exchange) => reset(),
  // As DynamoDB does with a connection that it no longer wants.
  'request closed': endings.closed,
  'server error': ({ outgoing }: Exchange) => respondWithError(outgoing, 500, 'InternalServerError'),
  unavailable: ({ outgoing }: Exchange) => respondWithError(outgoing, 503, 'ServiceUnavailable'),
  'unavailable for an hour'({ outgoing }: Exchange) {
    respondWithError(outgoing.setHeader('Retry-After', '3600'), 503, 'ServiceUnavailable');
  },
  throttled: ({ outgoing }: Exchange) => respondWithError(outgoing, 400, 'ProvisionedThroughputExceededException'),
  // As some proxies send it.
  garbage({ outgoing }: Exchange) {
    outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>It works!</h1>');
  },
};

type CutResponse = `${keyof typeof endings} ${keyof typeof places}`;
type WrongResponse = `${keyof typeof wrongBodies} with ${keyof typeof checksums}`;
export type Fault = keyof typeof refusals | 'response delayed' | CutResponse | WrongResponse;

const namesOf = <Key extends string>(table: Record<Key, unknown>) => Object.keys(table) as Key[];
const cutResponses = namesOf(endings).flatMap((ending) =>
  namesOf(places).map((place) => `${ending} ${place}` as const),
);
const wrongResponses = namesOf(wrongBodies).flatMap((body) =>
  namesOf(checksums).map((checksum) => `${body} with ${checksum}` as const),
);

/** After these, a client has a whole response in time. */
export const harmless: readonly Fault[] = [
  'response delayed',
  'the same body with its checksum',
  'closed after the body',
];

/** Not a fault of an attempt: the rest of a short response is in time, or no client can tell that the body is wrong. */
const excluded: readonly Fault[] = [
  'slow in the body',
  'slow before the last byte',
  'slow after the body',
  'silent after the body', // It is one of the next attempt: `endConnections` has it.
  '{} with its checksum',
  '{"Attributes":{}} with its checksum',
  'other numbers with its checksum',
];

const isToldApart = (fault: Fault) => !excluded.includes(fault);

/** Everything that happens to requests and connections. */
export const transportFaults: readonly Fault[] = [
  ...namesOf(refusals),
  'response delayed' as const,
  ...cutResponses,
].filter(isToldApart);

/** Whole responses that are not the engine's. */
export const bodyFaults: readonly Fault[] = wrongResponses.filter(isToldApart);

/** Whether the engine carries out a request with a fault. */
export function isCarriedOut(fault: Fault): boolean {
  return !(fault in refusals);
}

/** The requests with a fault; all of them by default. */
interface Rule {
  readonly fault: Fault;
  /** The operations (`PutItem`, …). */
  readonly operations?: readonly string[];
  /** How many requests about the same items fail in sequence. More are the next attempts at the same request. */
  readonly attempts?: number;
}

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
  let disturbance: Rule | undefined;
  /** The faults in sequence that the attempts at a request have met. */
  const met = new Map<string, number>();
  let unanswered = 0;

  /** Finds the fault of a request: a planned one, or that of all. */
  const findFault = (operation: string, body: Buffer): Fault | undefined => {
    const plan = plans.find((candidate) => candidate.operation === operation && candidate.times > 0);
    const isPlanned = plan && plan.after <= 0;
    if (plan) plan[isPlanned ? 'times' : 'after'] -= 1;
    if (isPlanned) return plan.fault;
    const { fault, operations = [operation], attempts = Infinity } = disturbance ?? {};
    const subject = subjectOf(operation, body);
    const faults = met.get(subject) ?? 0;
    const isMet = operations.includes(operation) && faults < attempts;
    met.set(subject, isMet ? faults + 1 : 0);
    return isMet ? fault : undefined;
  };

  const handle: RequestListener = async (incoming, outgoing) => {
    const { headers, socket } = incoming;
    if (dead.has(socket)) {
      unanswered += 1;
      return;
    }
    const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
    const entry = { operation, units: 0 };
    requests.push(entry);
    const received = Buffer.concat(await incoming.toArray());
    const fault = findFault(operation, received);
    const body = metersCapacity ? askForCapacity(received) : received;
    const forward = () => forwardTo(engineEndpoint, incoming, body);
    if (fault === 'request held') held.push(hold(socket, forward));
    const isSame = ({ remotePort }: Socket) => remotePort === socket.remotePort;
    const exchange = { outgoing, reset: () => [...sockets.tcp].findLast(isSame)?.resetAndDestroy() };
    if (fault && isRefusal(fault)) return refusals[fault](exchange);
    const response = await forward().catch(() => undefined);
    if (response === undefined) return socket.destroy();
    if (metersCapacity) entry.units = JSON.parse(String(response.body)).ConsumedCapacity?.CapacityUnits ?? 0;
    if (withoutChecksums) delete response.headers['x-amz-crc32'];
    if (fault === 'response delayed') await sleep(delayMs);
    else if (fault && isCut(fault)) return sendCut(fault, response, exchange);
    // Errors of the engine are forwarded unchanged.
    else if (fault && response.status < 300) return sendWrong(fault, response, outgoing);
    outgoing.writeHead(response.status, response.headers).end(response.body);
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
  server.on(isTls ? 'secureConnection' : 'connection', track(sockets.http));

  const port = await listen(server);
  /** Delivers the held requests of timed-out attempts. @returns their number */
  const deliverHeld = async () => (await Promise.all(held.splice(0).map((deliver) => deliver()))).length;
  return {
    endpoint: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`,
    /** The number of requests of an operation (`PutItem`, …). */
    countRequests: (operation: string) => requests.filter((each) => each.operation === operation).length,
    /** The number of requests on connections that are dead. */
    countUnanswered: () => unanswered,
    countConnections: () => sockets.tcp.size,
    /** Gives the requests, and forgets them. */
    takeRequests: () => requests.splice(0),
    /** Fails a number of requests of an operation, after a number that pass. */
    injectFault(operation: string, fault: Fault, times: number, after = 0) {
      plans.push({ operation, fault, times, after });
    },
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
      plans.length = 0;
      await deliverHeld();
      if (!server.listening) await listen(server, port);
    },
    stop: () => close(server),
  };
}

function isRefusal(fault: Fault): fault is keyof typeof refusals {
  return fault in refusals;
}

function isCut(fault: Fault): fault is CutResponse {
  return (cutResponses as readonly Fault[]).includes(fault);
}

/** Names what a request is about. All attempts at it are about the same, and only they, if a test has one such at a time. */
function subjectOf(operation: string, body: Buffer): string {
  const { Key, Item, TransactItems, ...others } = JSON.parse(body.toString());
  const { shard, id } = Key ?? Item ?? TransactItems?.[0].Put.Item ?? {};
  return JSON.stringify([operation, id === undefined ? others : [shard, id]]);
}

function askForCapacity(body: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'TOTAL' }));
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
): Promise<TestResponse> {
  const options = { method, headers: { ...headers, 'content-length': String(body.length) }, agent: false };
  const [response] = await once(request(engineEndpoint, options).end(body), 'response');
  const received = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body: received };
}

/** Sends the beginning of a response, and ends it. */
async function sendCut(fault: CutResponse, { status, headers, body }: TestResponse, exchange: Exchange) {
  const [ending, ...place] = fault.split(' ') as [keyof typeof endings, ...string[]];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} OK\r\n${lines.join('')}\r\n`);
  const length = places[place.join(' ') as keyof typeof places](head.length, body.length);
  const bytes = Buffer.concat([head, body]);
  const { socket } = exchange.outgoing;
  // The bytes leave before the connection is reset.
  await new Promise((resolve) => socket?.write(bytes.subarray(0, length), resolve) ?? resolve(undefined));
  await endings[ending](exchange, bytes.subarray(length));
}

/** Sends a success with another body or checksum. */
function sendWrong(fault: Fault, { headers, body }: TestResponse, outgoing: ServerResponse): void {
  const [name, checksum] = fault.split(' with ') as [keyof typeof wrongBodies, keyof typeof checksums];
  const wrong = Buffer.from(wrongBodies[name](body));
  const { 'x-amz-crc32': _, ...others } = headers;
  const crc = checksums[checksum]?.(wrong);
  outgoing.writeHead(200, {
    ...others,
    'content-length': wrong.length,
    ...(crc !== undefined && { 'x-amz-crc32': crc }),
  });
  outgoing.end(wrong);
}

/** Changes the first digit of every number, such as a year, an id or the counter, and keeps the length. */
function alterDigits(body: Buffer): string {
  const text = body.toString();
  const altered = text.replace(/"N":"(\d)/g, (_, digit) => `"N":"${(Number(digit) % 9) + 1}`);
  return altered === text ? text.replace('{', '[') : altered;
}

/** Of a book in each error response: the SDK makes all members of the response those of its error. */
export const storedText = 'a title that no log may show';

function respondWithError(outgoing: ServerResponse, status: number, name: string): void {
  outgoing.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
  const item = { title: { S: storedText } };
  outgoing.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name, item }));
}
