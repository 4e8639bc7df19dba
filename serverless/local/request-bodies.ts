import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';

/** "Quotas for configuring and running a REST API in API Gateway". */
export const maxBodyBytes = 10 * 1024 * 1024;

/** The memory of all bodies together: five of the largest. */
const maxHeldBytes = 5 * maxBodyBytes;

/** The memory of a chunk beside its bytes. Without it, chunks of one byte would get around the limit. */
const chunkOverheadBytes = 512;

type Refusal = 'REQUEST_TOO_LARGE' | 'THROTTLED';

/**
 * The bodies of the requests in progress. When they hold too much memory together, the oldest one that is still
 * arriving is refused. Its client is the slowest, or holds back the rest.
 */
export class RequestBodies {
  #heldBytes = 0;
  readonly #arriving = new Set<() => void>();

  /**
   * Reads a body, which counts until its response is closed.
   *
   * @returns the body, or the type of the gateway response that refuses it
   */
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
      // The rest is read and dropped, because many clients read the response after they have sent everything.
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
