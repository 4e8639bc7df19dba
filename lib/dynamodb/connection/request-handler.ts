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

type Handle = NodeHttpHandler['handle'];

/**
 * Makes the SDK's HTTP handler, with additions:
 *
 * - An idle connection is closed after 20 s, by its agent. While Lambda freezes an instance, DynamoDB closes the connections
 *   and no timer runs. So the time since the last response is checked before each request, by the wall clock, because a
 *   monotonic clock may stand still as well. After a failure, no idle connection is used, either.
 * - When no connection could be made, the error says that the request was not sent.
 * - It rejects a response whose checksum is wrong. Like AWS's SDKs, it compares the checksum when there is one.
 * - It rejects a success whose body is not a JSON object, or not one of GetItem.
 */
export function createRequestHandler() {
  const httpAgent = new http.Agent({ keepAlive: true, timeout: maxIdleMs });
  const httpsAgent = new https.Agent({ keepAlive: true, timeout: maxIdleMs });
  const handler = new NodeHttpHandler({ httpAgent, httpsAgent });
  const closeIdle = () => {
    for (const { freeSockets } of [httpAgent, httpsAgent]) {
      for (const socket of Object.values(freeSockets).flat() as Duplex[]) socket.destroy();
    }
  };
  let lastResponse = 0;

  return {
    metadata: handler.metadata,
    destroy: () => handler.destroy(),

    /** @throws {AttemptError} when nothing was sent, or the response is damaged */
    async handle(request: Parameters<Handle>[0], options?: Parameters<Handle>[1]) {
      const idleMs = Date.now() - lastResponse;
      // Below 0, the clock was set back.
      if (idleMs < 0 || idleMs > maxIdleMs) closeIdle();
      // CloudTrail shows it. It is not part of the signature.
      request.headers['user-agent'] = 'book-catalog';
      try {
        const { response } = await handler.handle(request, options);
        const { statusCode, headers } = response;
        const chunks: Buffer[] = [];
        await finished((response.body as Readable).on('data', (chunk) => chunks.push(chunk)));
        lastResponse = Date.now();
        const whole = { statusCode, headers, body: Buffer.concat(chunks) };
        const damage = findDamage(whole, `${request.headers['x-amz-target']}`);
        if (damage) throw new AttemptError(`the response ${damage}`);
        return { response: whole };
      } catch (error) {
        closeIdle();
        const { code, syscall } = error as NodeJS.ErrnoException;
        const isUnsent = code === 'ECONNREFUSED' || syscall === 'getaddrinfo';
        if (!isUnsent) throw error;
        throw new AttemptError(describeFailure(error as Error), { mayBeDone: false, cause: error });
      }
    },
  };
}

/** @returns what is wrong with the response to an operation, if anything is */
function findDamage(
  { statusCode, headers, body }: { statusCode: number; headers: Readonly<Record<string, string>>; body: Buffer },
  operation: string,
): string | undefined {
  const checksum = headers['x-amz-crc32'];
  if (checksum !== undefined && Number(checksum) !== checksumOf(body)) return 'does not match its checksum';
  if (statusCode >= 300) return undefined;
  if (body[0] !== '{'.charCodeAt(0)) return 'is not a JSON object';
  const isAnother = operation.endsWith('.GetItem') && !itemResponse.test(`${body.subarray(0, 50)}`);
  return isAnother ? 'is not of GetItem' : undefined;
}

function checksumOf(body: Uint8Array): number {
  if (body.length > maxShortBytes) return process.getBuiltinModule('node:zlib').crc32(body);
  const crc = new Crc32Js();
  crc.update(body);
  return crc.digestSync();
}
