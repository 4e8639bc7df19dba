import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

/** The engine's response to a request. */
export interface EngineResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders & { 'x-amz-crc32'?: string };
  readonly body: Buffer;
}

/** A request of the client that meets a fault. */
export interface Exchange {
  readonly outgoing: ServerResponse;
  /** Lets the engine carry out the request. */
  readonly forward: () => Promise<EngineResponse>;
  /** Keeps the request in transit, until its client has given up and a test delivers it. */
  readonly hold: () => void;
  /** Resets the connection: a TLS socket cannot do that, the one below it can. */
  readonly reset: () => void;
}

/** Something that happens to a request or to its response. */
export interface Fault {
  /** As it reads in a failure. */
  readonly name: string;
  readonly happen: (exchange: Exchange) => unknown;
  /** Whether the engine carries out the request. */
  readonly isCarriedOut?: boolean;
  /** Whether a client notices it only when its time is over. */
  readonly isSlow?: boolean;
  /** Whether the client has a whole response in time. */
  readonly isHarmless?: boolean | 'by chance';
}

/** Long, and below the client's timeout, which two of them exceed. */
const delayMs = 1_600;

const longText = 'x'.repeat(100_000);

/** A part of a book in each error response: the SDK makes all members of the response those of its error. */
export const storedText = 'a title that no log may show';

function respondWithError({ outgoing }: Exchange, status: number, name: string, message = name, members: object = {}) {
  const item = { title: { S: storedText } };
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message, item, ...members });
  outgoing.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0', 'x-amz-crc32': crc32(body) }).end(body);
}

const close = ({ outgoing: { socket } }: Exchange) => void socket?.end();
const writeRaw = ({ outgoing: { socket } }: Exchange, head: string) => void socket?.write(`HTTP/1.1 ${head}\r\n\r\n`);

// Faults of requests, which the engine never gets, or gets late.

export const requestIgnored: Fault = { name: 'request ignored', isSlow: true, happen() {} };
const requestHeld: Fault = { name: 'request held', isSlow: true, happen: ({ hold }) => hold() };
export const requestLost: Fault = { name: 'request lost', happen: ({ reset }) => reset() };
/** As DynamoDB does with a connection that it no longer wants. */
const requestClosed: Fault = { name: 'request closed', happen: close };
export const serverError: Fault = {
  name: 'server error',
  happen: (exchange) => respondWithError(exchange, 500, 'InternalServerError'),
};
const longServerError: Fault = {
  name: 'server error with a long message',
  happen: (exchange) => respondWithError(exchange, 500, 'InternalServerError', longText),
};
const unavailable: Fault = {
  name: 'unavailable',
  happen: (exchange) => respondWithError(exchange, 503, 'ServiceUnavailable'),
};
const unavailableForAnHour: Fault = {
  name: 'unavailable for an hour',
  happen(exchange) {
    exchange.outgoing.setHeader('Retry-After', '3600');
    respondWithError(exchange, 503, 'ServiceUnavailable');
  },
};
const throttled: Fault = {
  name: 'throttled',
  happen: (exchange) => respondWithError(exchange, 400, 'ProvisionedThroughputExceededException'),
};
/** As some proxies send it. */
const garbage: Fault = {
  name: 'garbage',
  happen: ({ outgoing }) => outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>It works!</h1>'),
};
/** As a server does that closes an idle connection. */
const requestTimeout: Fault = {
  name: 'request timeout',
  happen(exchange) {
    writeRaw(exchange, '408 Request Timeout\r\nConnection: close\r\nContent-Length: 0');
    close(exchange);
  },
};
/** The request of the client never ends, unless the client ends it. */
const switchingProtocols: Fault = {
  name: 'switching protocols',
  isSlow: true,
  happen: (exchange) => writeRaw(exchange, '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other'),
};
// Faults of responses, after the engine has carried out the request.

const responseDelayed: Fault = {
  name: 'response delayed',
  isCarriedOut: true,
  isHarmless: true,
  async happen({ forward, outgoing }) {
    const { status, headers, body } = await forward();
    await sleep(delayMs);
    outgoing.writeHead(status, headers).end(body);
  },
};

/** As by a proxy that repeats requests. The second response to a write is usually a refusal, by the write itself. */
const requestRepeated: Fault = {
  name: 'request carried out twice',
  isCarriedOut: true,
  isHarmless: true,
  async happen({ forward, outgoing }) {
    await forward();
    const { status, headers, body } = await forward();
    outgoing.writeHead(status, headers).end(body);
  },
};

/** How a response ends. */
interface Ending {
  readonly name: string;
  readonly isSlow?: boolean;
  readonly end: (exchange: Exchange, rest: Buffer) => unknown;
}

const silent: Ending = { name: 'silent', isSlow: true, end() {} };
/** The rest comes in single bytes, so that the connection is not idle. */
const slow: Ending = {
  name: 'slow',
  isSlow: true,
  async end({ outgoing: { socket } }, rest) {
    for (const byte of rest) {
      await sleep(delayMs);
      if (!socket?.writable) return;
      socket.write(Buffer.of(byte));
    }
  },
};
const reset: Ending = { name: 'reset', end: (exchange) => exchange.reset() };
const closed: Ending = { name: 'closed', end: close };

/** Where a response ends: after which bytes of a head and a body. */
const beforeHead = { name: 'before the head', after: () => 0 };
const inHead = { name: 'in the head', after: (head: number) => head / 2 };
const beforeBody = { name: 'before the body', after: (head: number) => head };
const inBody = { name: 'in the body', after: (head: number, body: number) => head + body / 2 };
const beforeLastByte = { name: 'before the last byte', after: (head: number, body: number) => head + body - 1 };
const afterBody = { name: 'after the body', after: (head: number, body: number) => head + body };

/** Sends the beginning of a response, and ends it. */
function cut(ending: Ending, place: typeof inBody, isHarmless: boolean | 'by chance' = false): Fault {
  return {
    name: `${ending.name} ${place.name}`,
    isCarriedOut: true,
    isSlow: ending.isSlow ?? false,
    isHarmless,
    async happen(exchange) {
      const { status, headers, body } = await exchange.forward();
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const head = Buffer.from(`HTTP/1.1 ${status} OK\r\n${lines.join('')}\r\n`);
      const bytes = Buffer.concat([head, body]);
      const length = place.after(head.length, body.length);
      const { socket } = exchange.outgoing;
      // The bytes leave before the connection is reset.
      await new Promise((resolve) => socket?.write(bytes.subarray(0, length), resolve) ?? resolve(undefined));
      await ending.end(exchange, bytes.subarray(length));
    },
  };
}

export const responseCut = cut(closed, inBody);

/** Everything that happens to requests and connections. A short response in single bytes is in time, and no fault. */
export const transportFaults: readonly Fault[] = [
  requestIgnored,
  requestHeld,
  requestLost,
  requestClosed,
  requestTimeout,
  switchingProtocols,
  ...[
    serverError,
    longServerError,
    unavailable,
    unavailableForAnHour,
    throttled,
    garbage,
    responseDelayed,
    requestRepeated,
  ],
  ...[beforeHead, inHead, beforeBody].map((place) => cut(slow, place)),
  ...[silent, reset, closed].flatMap((ending) =>
    [beforeHead, inHead, beforeBody, inBody, beforeLastByte].map((place) => cut(ending, place)),
  ),
  // The reset may overtake the response.
  cut(reset, afterBody, 'by chance'),
  cut(closed, afterBody, true),
];

type BodyChange = (body: Buffer) => string | Buffer;
type Checksum = 'no checksum' | 'a wrong checksum' | 'its checksum';

/** Sends a success or a refusal with another body or checksum. */
function alter(name: string, change: BodyChange, checksum: Checksum, isHarmless = false): Fault {
  return {
    name: `${name} with ${checksum}`,
    isCarriedOut: true,
    isHarmless,
    async happen({ forward, outgoing }) {
      const { status, headers, body } = await forward();
      const altered = Buffer.from(change(body));
      const { 'x-amz-crc32': _, ...others } = headers;
      const crc = checksum === 'a wrong checksum' ? (crc32(altered) ^ 1) >>> 0 : crc32(altered);
      const sent = { ...others, 'content-length': altered.length };
      outgoing.writeHead(status, checksum === 'no checksum' ? sent : { ...sent, 'x-amz-crc32': crc });
      return outgoing.end(altered);
    },
  };
}

/** Changes the first digit of every number, such as a year, an id or the counter, and keeps the length. */
function alterDigits(body: Buffer): string {
  const text = body.toString();
  const altered = text.replace(/"N":"(\d)/g, (_, digit) => `"N":"${(Number(digit) % 9) + 1}`);
  return altered === text ? text.replace('{', '[') : altered;
}

const emptyItems = '{"Item":{},"Attributes":{},"Items":[{}],"Count":1}';

/** Bodies that no client can take for the right one. */
const absurdBodies: readonly [name: string, change: BodyChange][] = [
  ['nothing', () => ''],
  ['half of the body', (body) => body.subarray(0, body.length / 2)],
  ['null', () => 'null'],
  ['[]', () => '[]'],
  ['empty items', () => emptyItems],
];

/** Whole responses whose checksum is wrong. */
const checksumFaults: readonly Fault[] = [
  ...absurdBodies,
  ['{}', () => '{}'] as const,
  ['{"Attributes":{}}', () => '{"Attributes":{}}'] as const,
  ['other numbers', alterDigits] as const,
  ['the same body', (body: Buffer) => body] as const,
].map(([name, change]) => alter(name, change, 'a wrong checksum'));

/** Whole responses that are not the engine's. */
export const bodyFaults: readonly Fault[] = [
  ...checksumFaults,
  ...absurdBodies.map(([name, change]) => alter(name, change, 'no checksum')),
  alter('the same body', (body) => body, 'no checksum', true),
];

/** What a middlebox may send that answers for the database: it says that there is no item. */
export const emptyResponse = alter('{}', () => '{}', 'no checksum');

/** A response to a Query, as when each response is sent twice and the second one meets the next request. */
export const responseToQuery = alter(
  'a page of a Query',
  () => '{"Count":1,"Items":[{"id":{"N":"1"}}],"ScannedCount":1}',
  'its checksum',
);
