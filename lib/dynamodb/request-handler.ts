import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AttemptError, describeFailure } from './errors.ts';

/** Far less than the minute or so after which DynamoDB closes idle connections. */
const maxIdleMs = 20_000;

type Handle = NodeHttpHandler['handle'];

/**
 * Makes the SDK's HTTP handler, with three additions:
 *
 * - A connection that was idle for long is not used again. While Lambda freezes an instance, DynamoDB closes the
 *   connections and no timer runs. Their age is therefore checked when the next request is sent. After a failure, no
 *   idle connection is used.
 * - When no connection could be made, the error says that the request was not sent.
 * - It rejects a response whose checksum is wrong, or missing over HTTPS, or whose success body is not a JSON object.
 *   DynamoDB always sends the checksum. Other engines may not.
 */
export function createRequestHandler() {
  const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
  const ready = { http: 'connect', https: 'secureConnect' };
  const idleSince = new WeakMap<Duplex, number>();
  const connectionErrors = new WeakSet<Error>();
  for (const protocol of ['http', 'https'] as const) {
    const agent: http.Agent = agents[protocol];
    const keep = agent.keepSocketAlive.bind(agent);
    agent.keepSocketAlive = (socket) => {
      idleSince.set(socket, performance.now());
      return keep(socket);
    };
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => {
      const socket = connect(options, callback);
      const onError = (error: Error) => connectionErrors.add(error);
      socket?.once('error', onError);
      socket?.once(ready[protocol], () => socket.off('error', onError));
      return socket;
    };
  }
  const handler = new NodeHttpHandler({ httpAgent: agents.http, httpsAgent: agents.https });
  let sendsChecksums = false;
  let failedAt = 0;

  return {
    metadata: handler.metadata,
    destroy: () => handler.destroy(),

    /** @throws {AttemptError} when nothing was sent, or the response is damaged */
    async handle(request: Parameters<Handle>[0], options?: Parameters<Handle>[1]) {
      const isTls = request.protocol === 'https:';
      const { freeSockets } = isTls ? agents.https : agents.http;
      const oldest = Math.max(performance.now() - maxIdleMs, failedAt);
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) {
        if ((idleSince.get(socket) ?? 0) < oldest) socket.destroy();
      }
      // CloudTrail shows it. It is not part of the signature.
      request.headers['user-agent'] = 'book-catalog';
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
        return { response: { statusCode, headers, body } };
      } catch (error) {
        failedAt = performance.now();
        if (!(error instanceof Error) || !connectionErrors.has(error)) throw error;
        throw new AttemptError(describeFailure(error), { mayBeDone: false, cause: error });
      }
    },
  };
}

function damaged(problem: string): AttemptError {
  return new AttemptError(`the response ${problem}`, { mayBeDone: true });
}
