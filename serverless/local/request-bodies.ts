import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';

/** "Quotas for configuring and running a REST API in API Gateway". */
export const maxBodyBytes = 10 * 1024 * 1024;

/** What all bodies together may hold: five of the largest. */
const maxHeldBytes = 5 * maxBodyBytes;

/** The memory of a chunk beside its bytes, so that chunks of one byte are no way around the limit. */
const chunkOverheadBytes = 512;

type Refusal = 'REQUEST_TOO_LARGE' | 'THROTTLED';

/**
 * The bodies of the requests in progress. When they hold too much together, the oldest one that is still arriving is
 * refused: it belongs to a client that holds back the rest, or to the slowest one.
 */
export class RequestBodies {
  #heldBytes = 0;
  readonly #arriving = new Set<() => void>();

  /** Reads a body, which counts until its response is closed. @returns the type of the gateway response when refused */
  async read(request: IncomingMessage, response: ServerResponse): Promise<Buffer | Refusal> {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length === undefined && encoding === undefined) return Buffer.alloc(0);
    if (Number(length) > maxBodyBytes) return 'REQUEST_TOO_LARGE';
    const chunks: Buffer[] = [];
    let [size, held] = [0, 0];
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | Refusal>();
    const release = () => {
      this.#arriving.delete(drop);
      this.#heldBytes -= held;
      held = 0;
    };
    const refuse = (refusal: Refusal) => {
      release();
      chunks.length = 0;
      // What follows is read and forgotten, so that the client reads the response.
      request.off('data', receive).resume();
      resolve(refusal);
    };
    const drop = () => refuse('THROTTLED');
    const receive = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) return refuse('REQUEST_TOO_LARGE');
      chunks.push(chunk);
      held += chunk.length + chunkOverheadBytes;
      this.#heldBytes += chunk.length + chunkOverheadBytes;
      for (const dropOldest of this.#arriving) {
        if (this.#heldBytes <= maxHeldBytes) break;
        dropOldest();
      }
    };
    this.#arriving.add(drop);
    response.once('close', release);
    request.on('data', receive);
    finished(request, (error) => {
      this.#arriving.delete(drop);
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    });
    return promise;
  }
}
