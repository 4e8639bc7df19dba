import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in front of the emulator that remembers what CloudFormation is asked for. */
export interface RecordingProxy {
  readonly url: string;
  /** The form of each request for a change set. */
  readonly changeSets: readonly URLSearchParams[];
  stop(): void;
}

/**
 * Starts a proxy on a free loopback port.
 *
 * @param target - the emulator's address
 */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const changeSets: URLSearchParams[] = [];
  const server = createServer(async (incoming, response) => {
    const body = Buffer.concat(await Array.fromAsync(incoming));
    const form = new URLSearchParams(body.length < 1_000_000 ? body.toString() : '');
    if (form.get('Action') === 'CreateChangeSet') changeSets.push(form);
    const { method, headers, url } = incoming;
    // Host stays as it was signed.
    const outgoing = request(new URL(url ?? '/', target), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    outgoing.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    changeSets,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
