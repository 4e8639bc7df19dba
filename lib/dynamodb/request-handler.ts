import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AttemptError } from './errors.ts';

/** DynamoDB closes idle connections after a minute or so. */
const maxIdleMs = 20_000;

type Request = Parameters<NodeHttpHandler['handle']>[0];

/** The options of `client.send`. `takeBody` takes the body of a success, and the SDK gets an empty object in its place. */
type Options = { abortSignal?: AbortSignal; attempt?: number; takeBody?: (body: Uint8Array) => void };

/**
 * Makes the SDK's HTTP handler, with two additions:
 *
 * - A connection that was idle for long is not used again. While Lambda freezes an instance, DynamoDB closes the connections
 *   and no timer runs, so their age is checked when the next request is sent. After a failure, none of the idle ones is.
 * - A response is whole: it matches its `x-amz-crc32`, which only another engine may leave out, always, and is an object.
 */
export function createRequestHandler() {
  const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
  const idleSince = new WeakMap<Duplex, number>();
  for (const agent of Object.values(agents)) {
    const keep = agent.keepSocketAlive.bind(agent);
    agent.keepSocketAlive = (socket) => {
      idleSince.set(socket, performance.now());
      return keep(socket);
    };
  }
  const handler = new NodeHttpHandler({ httpAgent: agents.http, httpsAgent: agents.https });
  let sendsChecksums = false;
  let failedAt = 0;

  return {
    metadata: handler.metadata,
    destroy: () => handler.destroy(),

    /** @throws {AttemptError} when the response is damaged, whatever its status; what Node throws when there is none */
    async handle(request: Request, { attempt = 1, takeBody, ...options }: Options = {}) {
      const isTls = request.protocol === 'https:';
      const { freeSockets } = isTls ? agents.https : agents.http;
      const oldest = Math.max(performance.now() - maxIdleMs, failedAt);
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) {
        if ((idleSince.get(socket) ?? 0) < oldest) socket.destroy();
      }
      // Names the service in CloudTrail. It is not part of a signature.
      request.headers['user-agent'] = `book-catalog${attempt === 1 ? '' : ` attempt/${attempt}`}`;
      try {
        const { response } = await handler.handle(request, options);
        const { statusCode, headers } = response;
        const chunks: Buffer[] = [];
        await finished((response.body as Readable).on('data', (chunk) => chunks.push(chunk)));
        const body = Buffer.concat(chunks);
        const checksum = headers['x-amz-crc32'];
        const isSuccess = statusCode < 300;
        sendsChecksums ||= isTls || checksum !== undefined;
        if (checksum === undefined && isSuccess && sendsChecksums) throw damaged('has no checksum');
        if (checksum !== undefined && Number(checksum) !== crc32(body)) throw damaged('does not match its checksum');
        if (isSuccess && body[0] !== '{'.charCodeAt(0)) throw damaged('is not a JSON object');
        if (isSuccess) takeBody?.(body);
        return { response: { statusCode, headers, body: isSuccess && takeBody ? Buffer.from('{}') : body } };
      } catch (error) {
        failedAt = performance.now();
        throw error;
      }
    },
  };
}

function damaged(problem: string): AttemptError {
  return new AttemptError(`the response ${problem}`, { mayBeDone: true });
}
