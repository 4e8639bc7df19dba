import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A gateway's own answer. */
interface GatewayAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What happens to a request: it is passed on, its answer gets lost on the way, or the gateway answers by itself. */
export type Fate = 'pass' | 'lose answer' | GatewayAnswer;

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
   * @param decide - says what happens to a request, which is named as in `POST /book`
   * @param port - where to listen; any free one unless given
   */
  static async start(target: string, decide: (name: string) => Fate, port = 0): Promise<FaultyGateway> {
    const server = createServer((incoming, outgoing) => {
      const fate = decide(`${incoming.method} ${incoming.url}`);
      if (typeof fate === 'object') {
        incoming.resume();
        outgoing.writeHead(fate.status, { 'Content-Type': 'application/json', ...fate.headers });
        outgoing.end(fate.body);
        return;
      }
      const { method = '', url = '', headers } = incoming;
      const passed = request(target + url, { method, headers }, (answer: IncomingMessage) => {
        if (fate === 'lose answer') {
          answer.resume().on('end', () => outgoing.destroy());
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
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

/** An answer in the envelope of every other. */
export function answer(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  data: unknown = null,
): GatewayAnswer {
  return { status, headers, body: JSON.stringify({ status, message, data }) };
}
