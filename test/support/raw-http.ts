import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Longer than any response takes on a busy machine. */
const silenceMs = 5_000;

/**
 * Sends bytes to 127.0.0.1 and reads every response until the server closes the connection or falls silent. For what the
 * client of the conformance suite cannot send: malformed HTTP, and requests without a pause.
 *
 * @param bytes - as text in Latin-1
 */
export async function exchangeRaw(port: number, bytes: string) {
  const socket = await openRaw(port, '');
  const received: string[] = [];
  socket.setEncoding('latin1').on('data', (text: string) => received.push(text));
  socket.on('end', () => socket.destroy());
  socket.setTimeout(silenceMs, () => socket.destroy());
  const over = once(socket, 'close');
  socket.write(bytes, 'latin1');
  await over;
  return splitResponses(received.join(''));
}

/** Sends bytes to 127.0.0.1 and leaves the connection open. */
export async function openRaw(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  // The server may close the connection before it has received everything.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  return socket;
}

/** Takes responses apart; throws when one of them has not its length. A body in chunks is JSON, which has no line ends. */
function splitResponses(received: string) {
  const messages = received.split(/(?=HTTP\/1\.1 \d{3} )/).filter((message) => message !== '');
  return messages.flatMap((message) => {
    const [head = '', ...sections] = message.split('\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const status = Number(statusLine.split(' ')[1]);
    const headers = new Map(
      lines.map((line) => line.split(/: (.*)/)).map(([name = '', value = '']) => [name.toLowerCase(), value]),
    );
    const rest = sections.join('\r\n\r\n');
    const isChunked = headers.has('transfer-encoding');
    const isWhole = isChunked ? rest.endsWith('0\r\n\r\n') : rest.length === Number(headers.get('content-length') ?? 0);
    if (!isWhole) throw new Error(`a response does not have its length: ${message}`);
    // A line with the size, a line with the chunk (RFC 9112 section 7.1).
    const chunks = rest.split('\r\n').filter((_, index) => index % 2 === 1);
    const body = Buffer.from(isChunked ? chunks.join('') : rest, 'latin1').toString('utf8');
    // An interim response has no body.
    return status < 200 ? [] : { status, headers, body };
  });
}
