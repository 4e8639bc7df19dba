import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Crc32Js } from '@smithy/core/checksum';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { describeFailure } from './database-error.ts';
import { AttemptError } from './errors.ts';

/** Far less than the minute or so after which DynamoDB closes idle connections. */
const maxIdleMs = 20_000;

/**
 * Up to this size, JavaScript makes the checksum, which takes 9 ms a megabyte. zlib takes 0.15 ms, but 2.5 ms to load.
 */
const maxShortBytes = 4 * 1024;

/** A success of GetItem. The response to another operation would mean that there is no such item. */
const itemResponse = /^\{\s*(\}|"(Item|ConsumedCapacity)")/;

/** All refusals of DynamoDB have it ("Error handling with DynamoDB"). The item in one decides 404, 412 and 413. */
const refusedStatus = 400;

type Handle = NodeHttpHandler['handle'];

/**
 * Makes the SDK's HTTP handler, with additions:
 *
 * - A connection that was idle for long is not used again. While Lambda freezes an instance, DynamoDB closes the
 *   connections and no timer runs. So the idle time is checked when the next request is sent. It is taken from the wall
 *   clock, because a monotonic clock may stand still as well. After a failure, no idle connection is used.
 * - When no connection could be made, the error says that the request was not sent.
 * - It rejects a response whose checksum is wrong, and a success or a refusal that lacks one. Over TLS a checksum is
 *   required, because DynamoDB always sends it. Over HTTP it is required once the engine has sent one with that status.
 * - It rejects a success whose body is not a JSON object, or not one of GetItem.
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
      idleSince.set(socket, Date.now());
      return keep(socket);
    };
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => {
      const socket = connect(options, callback) as Duplex;
      const onError = (error: Error) => connectionErrors.add(error);
      socket.once('error', onError);
      socket.once(ready[protocol], () => socket.off('error', onError));
      return socket;
    };
  }
  const handler = new NodeHttpHandler({ httpAgent: agents.http, httpsAgent: agents.https });
  /** The statuses of which a response had a checksum. DynamoDB Local sends it with successes alone. */
  const checkedStatuses = new Set<number>();

  return {
    metadata: handler.metadata,
    destroy: () => handler.destroy(),

    /** @throws {AttemptError} when nothing was sent, or the response is damaged */
    async handle(request: Parameters<Handle>[0], options?: Parameters<Handle>[1]) {
      const isTls = request.protocol === 'https:';
      const agent = isTls ? agents.https : agents.http;
      for (const socket of idleSockets(agent)) {
        const idleMs = Date.now() - (idleSince.get(socket) ?? 0);
        // Below 0, the clock was set back.
        if (idleMs < 0 || idleMs > maxIdleMs) socket.destroy();
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
        if (checksum !== undefined) checkedStatuses.add(statusCode);
        // Other responses, such as that of a proxy, decide nothing.
        const isDecision = isSuccess || statusCode === refusedStatus;
        const isDue = isDecision && (isTls || checkedStatuses.has(statusCode));
        if (checksum === undefined && isDue) throw damaged('has no checksum');
        const isIntact = checksum === undefined || Number(checksum) === checksumOf(body);
        if (!isIntact) throw damaged('does not match its checksum');
        if (isSuccess && body[0] !== '{'.charCodeAt(0)) throw damaged('is not a JSON object');
        const isGet = String(request.headers['x-amz-target']).endsWith('.GetItem');
        if (isSuccess && isGet && !itemResponse.test(`${body.subarray(0, 50)}`)) throw damaged('is not of GetItem');
        return { response: { statusCode, headers, body } };
      } catch (error) {
        for (const socket of idleSockets(agent)) socket.destroy();
        if (!(error instanceof Error) || !connectionErrors.has(error)) throw error;
        throw new AttemptError(describeFailure(error), { mayBeDone: false, cause: error });
      }
    },
  };
}

function idleSockets({ freeSockets }: http.Agent): Duplex[] {
  return Object.values(freeSockets).flat() as Duplex[];
}

function checksumOf(body: Uint8Array): number {
  if (body.length > maxShortBytes) return process.getBuiltinModule('node:zlib').crc32(body);
  const crc = new Crc32Js();
  crc.update(body);
  return crc.digestSync();
}

function damaged(problem: string): AttemptError {
  return new AttemptError(`the response ${problem}`);
}
