import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One HTTP response as received. */
interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The responses on one connection until the server closed it or fell silent. */
export interface RawExchange {
  readonly responses: readonly RawResponse[];
  /** Bytes after the last whole response. */
  readonly rest: string;
  readonly closed: boolean;
}

/** How to send. */
export interface RawOptions {
  /** Chunks that are sent with a pause between them. */
  readonly chunks?: readonly (string | Buffer)[];
  readonly pauseMs?: number;
  /** How long the server may be silent before the exchange counts as over. */
  readonly silenceMs?: number;
  /** Whether to close our half of the connection after the last byte. */
  readonly end?: boolean;
}

/** Longer than any response takes on a busy machine. */
const defaultSilenceMs = 5_000;

/**
 * Sends bytes on a new connection and reads every response.
 *
 * @param port - of the server on 127.0.0.1
 * @param bytes - what to send; text goes as Latin-1, so that each character is a byte
 * @param options - how
 */
export async function exchangeRaw(
  port: number,
  bytes: string | Buffer,
  { chunks = [], pauseMs = 0, silenceMs = defaultSilenceMs, end = false }: RawOptions = {},
): Promise<RawExchange> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const received: Buffer[] = [];
  let closed = false;
  socket.on('data', (chunk) => received.push(chunk));
  socket.on('end', () => {
    closed = true;
    socket.destroy();
  });
  // The server may close the connection before it has received everything.
  socket.on('error', () => {
    closed = true;
  });
  socket.setTimeout(silenceMs, () => socket.destroy());
  const over = once(socket, 'close');
  for (const chunk of [bytes, ...chunks]) {
    if (socket.destroyed) break;
    socket.write(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk);
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
  }
  if (end) socket.end();
  await over;
  return { ...splitResponses(Buffer.concat(received)), closed };
}

/**
 * Opens a connection, sends bytes and leaves it open.
 *
 * @param port - of the server on 127.0.0.1
 * @param bytes - what to send
 */
export async function openRaw(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Takes a stream of responses apart: by their Content-Length, by their chunks, or else by the end of the connection. */
function splitResponses(bytes: Buffer): Pick<RawExchange, 'responses' | 'rest'> {
  const responses: RawResponse[] = [];
  let rest = bytes;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) break;
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const after = rest.subarray(headEnd + 4);
    const body = headers.has('transfer-encoding')
      ? readChunks(after)
      : readBytes(after, status < 200 ? 0 : Number(headers.get('content-length') ?? after.length));
    if (body === undefined) break;
    // An interim response has no body.
    if (status >= 200) responses.push({ status, headers, body: body.bytes.toString('utf8') });
    rest = body.rest;
  }
  return { responses, rest: rest.toString('latin1') };
}

/** A body and the bytes after it. */
interface Body {
  readonly bytes: Buffer;
  readonly rest: Buffer;
}

function readBytes(from: Buffer, length: number): Body | undefined {
  return length <= from.length ? { bytes: from.subarray(0, length), rest: from.subarray(length) } : undefined;
}

/** Chunks without extensions and trailers, as Node sends them (RFC 9112 section 7.1). */
function readChunks(from: Buffer): Body | undefined {
  const chunks: Buffer[] = [];
  let rest = from;
  for (;;) {
    const sizeEnd = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.subarray(0, Math.max(sizeEnd, 0)).toString('latin1'), 16);
    const end = sizeEnd + 2 + size + 2;
    if (!(end <= rest.length)) return undefined;
    chunks.push(rest.subarray(sizeEnd + 2, end - 2));
    rest = rest.subarray(end);
    if (size === 0) return { bytes: Buffer.concat(chunks), rest };
  }
}
