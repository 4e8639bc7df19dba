import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One HTTP answer, as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What came back on one connection until the server closed it or fell silent. */
export interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** Bytes after the last whole answer. */
  readonly rest: string;
  readonly closed: boolean;
}

/** How to send. */
export interface RawOptions {
  /** Bytes that are sent one after the other with a pause between them, whole texts otherwise. */
  readonly pieces?: readonly (string | Buffer)[];
  readonly pauseMs?: number;
  /** How long the server may be silent before the exchange counts as over. */
  readonly silenceMs?: number;
  /** Whether to close our half of the connection after the last byte. */
  readonly end?: boolean;
}

/** Longer than any answer takes on a busy machine, unless none will come. */
const defaultSilenceMs = 5_000;

/**
 * Sends bytes as they are on a connection of their own and reads every answer to them.
 *
 * @param port - of the server on 127.0.0.1
 * @param bytes - what to send; text goes as Latin-1, so that each character is a byte
 * @param options - how
 */
export async function exchangeRaw(
  port: number,
  bytes: string | Buffer,
  { pieces = [], pauseMs = 0, silenceMs = defaultSilenceMs, end = false }: RawOptions = {},
): Promise<RawExchange> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const received: Buffer[] = [];
  let closed = false;
  socket.on('data', (chunk) => received.push(chunk));
  socket.on('end', () => {
    closed = true;
    socket.destroy();
  });
  // A server that hangs up on nonsense while it is still being sent is in its right.
  socket.on('error', () => {
    closed = true;
  });
  socket.setTimeout(silenceMs, () => socket.destroy());
  const over = once(socket, 'close');
  for (const piece of [bytes, ...pieces]) {
    if (socket.destroyed) break;
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
  }
  if (end) socket.end();
  await over;
  return { ...splitAnswers(Buffer.concat(received)), closed };
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

/** Takes a stream of answers apart: by their Content-Length, by their chunks, or else by the end of the connection. */
function splitAnswers(bytes: Buffer): Pick<RawExchange, 'answers' | 'rest'> {
  const answers: RawAnswer[] = [];
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
    // An interim answer has no body.
    if (status >= 200) answers.push({ status, headers, body: body.bytes.toString('utf8') });
    rest = body.rest;
  }
  return { answers, rest: rest.toString('latin1') };
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
