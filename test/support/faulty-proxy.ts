import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with a request on its way, and whether the engine carries it out all the same. */
export const faults = {
  /** The client's connection breaks. */
  'request lost': { carriedOut: false },
  /** Nothing comes back. */
  'no answer': { carriedOut: false },
  /** HTTP 500 comes back. */
  'server error': { carriedOut: false },
  /** HTTP 503 comes back. */
  unavailable: { carriedOut: false },
  /** HTTP 400 comes back, which says that there are too many requests. */
  throttled: { carriedOut: false },
  /** HTTP 200 comes back with a page for people, as some proxies answer in the engine's place. */
  garbage: { carriedOut: false },
  /** The answer comes a second late. */
  'answer delayed': { carriedOut: true },
  /** The client's connection breaks instead of an answer. */
  'answer lost': { carriedOut: true },
  /** Nothing comes back. */
  'answer withheld': { carriedOut: true },
  /** The answer stops half-way. */
  'answer stalls': { carriedOut: true },
  /** The client's connection is reset half-way through the answer. */
  'answer reset': { carriedOut: true },
  /** The numbers of the answer become others, so that it is JSON still; its checksum stays. */
  'answer altered': { carriedOut: true },
  /** The answer is whole, its checksum is another one's. */
  'wrong checksum': { carriedOut: true },
} as const satisfies Record<string, { readonly carriedOut: boolean }>;

export type Fault = keyof typeof faults;

/** Which requests go wrong. */
interface Disturbance {
  readonly fault: Fault;
  /** The operations (`PutItem`, …); all of them by default. */
  readonly operations?: readonly string[];
  /** How many of the attempts that the SDK makes at each request; all of them by default. */
  readonly attempts?: number;
}

/** Much, and less than the client's time limit. */
const delayMs = 1_000;

/**
 * An HTTP proxy between the DynamoDB client and the engine. Toxiproxy and its like work on connections; a fault that
 * is about one operation, or about one attempt at it, takes a proxy that reads the requests.
 */
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
  /** Lets requests go wrong until {@link heal} is called. */
  disturb(disturbance: Disturbance): void;
  /** Breaks all connections and refuses new ones until {@link heal} is called. */
  refuseConnections(): Promise<void>;
  /** Passes everything on again. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a proxy on a free loopback port that passes everything on until it is told otherwise.
 *
 * @param engineEndpoint - the engine's origin
 */
export async function startFaultyProxy(engineEndpoint: string): Promise<FaultyProxy> {
  const counts = new Map<string, number>();
  const plans: { operation: string; fault: Fault; times: number }[] = [];
  let disturbance: Disturbance | undefined;

  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
    const planned = plans.find((plan) => plan.operation === operation && plan.times > 0);
    if (planned) planned.times -= 1;
    const current = disturbance && concerns(disturbance, operation, incoming) ? disturbance : undefined;
    const fault = (planned ?? current)?.fault;
    const body = Buffer.concat(await incoming.toArray());

    if (fault !== undefined && !faults[fault].carriedOut) return answerInstead(fault, outgoing);

    const { headers, method = 'POST' } = incoming;
    const forwarded = request(engineEndpoint, { headers, method, agent: false });
    const answer = await sendAndReceive(forwarded, body).catch(() => undefined);
    if (answer === undefined) return incoming.socket.destroy();
    await spoil(fault, answer, outgoing);
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    countRequests: (operation) => counts.get(operation) ?? 0,
    operations: () => [...counts.keys()],
    injectFault: (operation, fault, times) => {
      plans.push({ operation, fault, times });
    },
    disturb: (next) => {
      disturbance = next;
    },
    refuseConnections: close,
    async heal() {
      disturbance = undefined;
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    stop: close,
  };
}

/** The engine's answer to a request. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The SDK says in a header which attempt at a request this is. */
function concerns(
  { operations, attempts = Infinity }: Disturbance,
  operation: string,
  request: IncomingMessage,
) {
  const attempt = Number(/attempt=(\d+)/.exec(String(request.headers['amz-sdk-request']))?.[1] ?? 1);
  return (operations?.includes(operation) ?? true) && attempt <= attempts;
}

/** Answers, or does not answer, a request that is not passed on. */
function answerInstead(fault: Fault, outgoing: ServerResponse): void {
  if (fault === 'request lost') outgoing.socket?.destroy();
  if (fault === 'server error') answerError(outgoing, 500, 'InternalServerError');
  if (fault === 'unavailable') answerError(outgoing, 503, 'ServiceUnavailable');
  if (fault === 'throttled') answerError(outgoing, 400, 'ProvisionedThroughputExceededException');
  if (fault === 'garbage') outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>It works!</h1>');
}

/** Passes an answer on in the way that a fault leaves of it. */
async function spoil(fault: Fault | undefined, answer: Answer, outgoing: ServerResponse): Promise<void> {
  const { status, headers, body } = answer;
  const half = body.subarray(0, body.length / 2);
  if (fault === 'answer withheld') return;
  if (fault === 'answer lost') {
    outgoing.socket?.destroy();
    return;
  }
  if (fault === 'answer delayed') await new Promise((done) => setTimeout(done, delayMs));
  const checksum = fault === 'wrong checksum' && {
    'x-amz-crc32': String(Number(headers['x-amz-crc32']) ^ 1),
  };
  outgoing.writeHead(status, { ...headers, ...checksum });
  if (fault === 'answer stalls' || fault === 'answer reset') {
    // Sent as a piece of its own before the connection breaks.
    await new Promise((sent) => outgoing.write(half, sent));
    if (fault === 'answer reset') outgoing.socket?.resetAndDestroy();
    return;
  }
  outgoing.end(fault === 'answer altered' ? alterDigits(body) : body);
}

/** Changes the first digit of every number, so that a year, an id, or the counter becomes another; not the length. */
function alterDigits(body: Buffer): string {
  const text = body.toString();
  const altered = text.replace(/"N":"(\d)/g, (_, digit) => `"N":"${(Number(digit) % 9) + 1}`);
  return altered === text ? text.replace('{', '[') : altered;
}

async function sendAndReceive(forwarded: ClientRequest, body: Buffer): Promise<Answer> {
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
