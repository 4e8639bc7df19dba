import { connect } from 'node:net';
import type { CheckedAnswer } from './check-answer.ts';

/**
 * Sends a request whose headers are no HTTP, and reads the answer.
 *
 * @param port - where a service listens on the loopback address
 * @param method - the HTTP method
 * @param path - the path
 */
export async function sendMalformed(port: number, method: string, path: string): Promise<CheckedAnswer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = answer.subarray(0, end).toString().split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ]);
  return {
    request: { method, path },
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: answer.subarray(end + 4),
  };
}
