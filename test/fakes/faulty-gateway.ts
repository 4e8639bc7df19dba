import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { close, listen } from '../support/loopback-server.ts';

/** A gateway's own response. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Changes the body of a response, with a character for each byte. */
type BodyChange = (body: string) => string;

/** The gateway forwards a request, loses it or its response, changes its response, or responds by itself. */
export type Fate = 'pass' | 'lose request' | 'lose response' | 'cut response' | BodyChange | GatewayResponse;

/**
 * Starts a gateway between a client and the service, with faults. `stop` breaks all connections.
 *
 * @param target - base URL of the service
 * @param decide - selects the fault of each request, named as in `POST /book`
 */
export async function startFaultyGateway(
  target: string,
  decide: (name: string, headers: IncomingHttpHeaders, body: Buffer) => Fate | Promise<Fate>,
) {
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = Buffer.concat(await incoming.toArray());
    const { method = '', url = '', headers } = incoming;
    const fate = await decide(`${method} ${url}`, headers, body);
    if (fate === 'lose request') return outgoing.destroy();
    if (typeof fate === 'object') {
      outgoing.writeHead(fate.status, { 'Content-Type': 'application/json', ...fate.headers });
      return outgoing.end(fate.body);
    }
    const passed = request(target + url, { method, headers }, (response: IncomingMessage) => {
      if (fate === 'lose response') return response.resume().on('end', () => outgoing.destroy());
      const { 'content-length': length, 'transfer-encoding': encoding, ...others } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, typeof fate === 'function' ? others : response.headers);
      if (typeof fate === 'function')
        return buffer(response).then((body) => outgoing.end(fate(body.toString('latin1')), 'latin1'));
      if (fate === 'pass') return response.pipe(outgoing);
      return response.once('data', (bytes: Buffer) => {
        outgoing.write(bytes.subarray(0, bytes.length / 2), () => outgoing.destroy());
      });
    });
    passed.on('error', () => outgoing.destroy());
    return passed.end(body);
  };
  const server = createServer(handle);
  const baseUrl = `http://127.0.0.1:${await listen(server)}`;
  return { baseUrl, stop: () => close(server) };
}

/** A gateway's response in the envelope. */
export function respond(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  data: unknown = null,
): GatewayResponse {
  return { status, headers, body: JSON.stringify({ status, message, data }) };
}
