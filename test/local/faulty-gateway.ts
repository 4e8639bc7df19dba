import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A gateway's own response. */
interface GatewayResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What happens to a request: it is passed on, it or its response gets lost, or the gateway responds by itself. */
export type Fate = 'pass' | 'lose request' | 'lose response' | 'cut response' | GatewayResponse;

/** Says what happens to a request, which is named as in `POST /book`. */
type Decide = (name: string, headers: IncomingHttpHeaders) => Fate;

/** Something between a client and the service where things go wrong. */
export class FaultyGateway {
  readonly baseUrl: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /**
   * @param target - base URL of the service
   * @param decide - says what happens to each request
   * @param port - where to listen; any free one unless given
   */
  static async start(target: string, decide: Decide, port = 0): Promise<FaultyGateway> {
    const server = createServer((incoming, outgoing) => {
      const fate = decide(`${incoming.method} ${incoming.url}`, incoming.headers);
      if (fate === 'lose request') {
        outgoing.destroy();
        return;
      }
      if (typeof fate === 'object') {
        incoming.resume();
        outgoing.writeHead(fate.status, { 'Content-Type': 'application/json', ...fate.headers });
        outgoing.end(fate.body);
        return;
      }
      const { method = '', url = '', headers } = incoming;
      const passed = request(target + url, { method, headers }, (response: IncomingMessage) => {
        if (fate === 'lose response') {
          response.resume().on('end', () => outgoing.destroy());
          return;
        }
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        if (fate === 'cut response') {
          response.once('data', (bytes: Buffer) => {
            outgoing.write(bytes.subarray(0, bytes.length / 2), () => outgoing.destroy());
          });
          return;
        }
        response.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      incoming.pipe(passed);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return new FaultyGateway(server);
  }

  /** Is gone at once, with all connections. */
  async stop(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** A response in the envelope of every other. */
export function respond(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  data: unknown = null,
): GatewayResponse {
  return { status, headers, body: JSON.stringify({ status, message, data }) };
}
