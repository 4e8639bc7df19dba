import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** How to send, and when the exchange counts as over. */
interface RawOptions {
  /** Sent after the first bytes, with a pause before each. */
  readonly chunks?: readonly (string | Buffer)[];
  readonly pauseMs?: number;
  /** How long the server may be silent. */
  readonly silenceMs?: number;
  /** Whether to close our half of the connection after the last byte. */
  readonly end?: boolean;
}

/** Longer than any response takes on a busy machine. */
const defaultSilenceMs = 5_000;

/**
 * Sends bytes to 127.0.0.1 and reads every response until the server closes the connection or falls silent.
 *
 * @param bytes - text goes as Latin-1, so that each character is a byte
 */
export async function exchangeRaw(
  port: number,
  bytes: string | Buffer,
  { chunks = [], pauseMs = 0, silenceMs = defaultSilenceMs, end = false }: RawOptions = {},
) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.on('end', () => socket.destroy());
  // The server may close the connection before it has received everything.
  socket.on('error', () => {});
  socket.setTimeout(silenceMs, () => socket.destroy());
  const over = once(socket, 'close');
  for (const chunk of [bytes, ...chunks]) {
    if (socket.destroyed) break;
    socket.write(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk);
    if (pauseMs > 0) await wait(pauseMs);
  }
  if (end) socket.end();
  await over;
  return splitResponses(Buffer.concat(received));
}

/** Sends bytes to 127.0.0.1 and leaves the connection open. */
export async function openRaw(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Takes responses apart: by their Content-Length, by their chunks, or else by the end of the connection. */
function splitResponses(received: Buffer) {
  const responses: { status: number; headers: ReadonlyMap<string, string>; body: string }[] = [];
  let rest = received.toString('latin1');
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) break;
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const after = rest.slice(headEnd + 4);
    // An interim response has no body.
    const length = status < 200 ? 0 : Number(headers.get('content-length') ?? after.length);
    const body = headers.has('transfer-encoding')
      ? readChunks(after)
      : { bytes: after.slice(0, length), length };
    if (body === undefined || body.length > after.length) break;
    if (status >= 200) {
      responses.push({ status, headers, body: Buffer.from(body.bytes, 'latin1').toString('utf8') });
    }
    rest = after.slice(body.length);
  }
  return { responses, rest };
}

/** Reads chunks without extensions and trailers, as Node sends them (RFC 9112 section 7.1). */
function readChunks(from: string) {
  let bytes = '';
  for (let start = 0; ; ) {
    const sizeEnd = from.indexOf('\r\n', start);
    const size = Number.parseInt(from.slice(start, Math.max(sizeEnd, start)), 16);
    const end = sizeEnd + 2 + size + 2;
    if (!(end <= from.length)) return undefined;
    bytes += from.slice(sizeEnd + 2, end - 2);
    start = end;
    if (size === 0) return { bytes, length: end };
  }
}
