import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Longer than any response takes on a busy machine. */
const silenceMs = 5_000;

/**
 * Sends a request to 127.0.0.1 and reads the response until the server closes the connection or falls silent. For what the
 * client of the conformance suite cannot send, such as malformed HTTP.
 *
 * @param bytes - as text in Latin-1
 * @returns undefined when there is no response
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
  return received.length === 0 ? undefined : parseResponse(received.join(''));
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

/** Takes a response apart; throws when it does not have its length. */
function parseResponse(received: string) {
  const [head = '', rest = ''] = received.split(/\r\n\r\n(.*)/s);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => line.split(/: (.*)/)).map(([name = '', value = '']) => [name.toLowerCase(), value]),
  );
  if (rest.length !== Number(headers.get('content-length') ?? 0)) {
    throw new Error(`a response does not have its length: ${received}`);
  }
  return { status: Number(statusLine.split(' ')[1]), headers, body: Buffer.from(rest, 'latin1').toString('utf8') };
}
