import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AttemptError } from './errors.ts';

/** DynamoDB closes idle connections after a minute or so. */
const maxIdleMs = 20_000;

/** Names the service in CloudTrail. It is not part of a signature. */
const userAgent = (attempt: number) => `book-catalog${attempt === 1 ? '' : ` attempt/${attempt}`}`;

type Request = Parameters<NodeHttpHandler['handle']>[0];
type Options = Parameters<NodeHttpHandler['handle']>[1] & { readonly attempt?: number };

/** A response to the SDK, with its whole body. */
export interface WholeResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/**
 * Makes the SDK's HTTP handler, with two additions:
 *
 * - A connection that was idle for long is not used again. While Lambda freezes an instance, DynamoDB closes the connections
 *   and no timer runs, so their age is checked when the next request is sent.
 * - A response is whole: its CRC-32 is the one in `x-amz-crc32`, which DynamoDB always sends, and a success is a JSON object.
 *   Without the header it is damaged over HTTPS, and from an engine that has sent the header before.
 */
export function createRequestHandler() {
  const idleSince = new WeakMap<Duplex, number>();
  const keepSince = <Agent extends http.Agent>(agent: Agent): Agent => {
    const keep = agent.keepSocketAlive.bind(agent);
    agent.keepSocketAlive = (socket) => {
      idleSince.set(socket, performance.now());
      return keep(socket);
    };
    return agent;
  };
  const httpAgent = keepSince(new http.Agent({ keepAlive: true }));
  const httpsAgent = keepSince(new https.Agent({ keepAlive: true }));
  const handler = new NodeHttpHandler({ httpAgent, httpsAgent });
  let sendsChecksums = false;

  const closeIdleConnections = ({ freeSockets }: http.Agent) => {
    const oldest = performance.now() - maxIdleMs;
    for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) {
      if ((idleSince.get(socket) ?? 0) < oldest) socket.destroy();
    }
  };

  return {
    metadata: handler.metadata,
    destroy: () => handler.destroy(),

    /** @throws {AttemptError} when the response is damaged, whatever its status; what Node throws when there is none */
    async handle(
      request: Request,
      { attempt = 1, ...options }: Options = {},
    ): Promise<{ response: WholeResponse }> {
      const isTls = request.protocol === 'https:';
      closeIdleConnections(isTls ? httpsAgent : httpAgent);
      request.headers['user-agent'] = userAgent(attempt);
      const { response } = await handler.handle(request, options);
      const { statusCode, headers } = response;
      const chunks: Buffer[] = [];
      await finished((response.body as Readable).on('data', (chunk) => chunks.push(chunk)));
      const body = Buffer.concat(chunks);
      const checksum = headers['x-amz-crc32'];
      if (checksum !== undefined) {
        sendsChecksums = true;
        if (Number(checksum) !== crc32(body)) throw damaged('does not match its checksum');
      } else if (statusCode < 300 && (sendsChecksums || isTls)) throw damaged('has no checksum');
      if (statusCode < 300 && String.fromCharCode(...body.subarray(0, 1)) !== '{') {
        throw damaged('is not a JSON object');
      }
      return { response: { statusCode, headers, body } };
    },
  };
}

function damaged(problem: string): AttemptError {
  return new AttemptError(`the response ${problem}`, { mayBeDone: true });
}
