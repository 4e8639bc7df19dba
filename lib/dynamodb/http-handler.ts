import * as http from 'node:http';
import * as https from 'node:https';
import { crc32 } from 'node:zlib';
import { createAgents, resetConnection } from './connection-agents.ts';
import { AttemptError } from './errors.ts';
import { invocationSignal } from './invocation-signal.ts';

/** The whole attempt: connection, request, and the response to its last byte. Enough for a 1 MB page on a slow line. */
const attemptTimeoutMs = 2_800;

/** Names the service in CloudTrail. It is not part of a signature. */
const userAgent = 'book-catalog';

const invocationOver = 'the invocation is over';

/** A signed request of the SDK, made of the same members as Node's. */
interface HttpRequest extends http.RequestOptions {
  readonly protocol: string;
  readonly hostname: string;
  readonly body?: unknown;
}

/** A response to the SDK, with its whole body. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  body: Uint8Array;
}

/**
 * Makes the attempts at requests to DynamoDB, with three promises that the SDK's handler does not give:
 *
 * - an attempt ends within one timeout, however slowly the response arrives;
 * - an attempt that is given up sends nothing more ({@link resetConnection}). All are given up when the invocation is
 *   over: Lambda would freeze them and continue them minutes after the client got its 503;
 * - a response is whole: its CRC-32 is the one in `x-amz-crc32`, which DynamoDB always sends. Without the header it is
 *   damaged over HTTPS and from an engine that has sent the header before; from others it has to be a JSON object.
 */
export class AttemptHandler {
  readonly #agents = createAgents();
  #sendsChecksums = false;

  /** @throws {AttemptError} when there is no whole response, whatever its status */
  async handle(request: HttpRequest): Promise<{ response: HttpResponse }> {
    if (invocationSignal.getStore()?.aborted) throw new AttemptError(invocationOver, { requestSent: false });
    const response = await this.#exchange(request);
    const { 'x-amz-crc32': checksum } = response.headers;
    if (checksum !== undefined) {
      this.#sendsChecksums = true;
      if (Number(checksum) !== crc32(response.body)) throw damaged('does not match its checksum');
    } else if (response.statusCode < 300) {
      if (this.#sendsChecksums || request.protocol === 'https:') throw damaged('has no checksum');
      if (String.fromCharCode(...response.body.subarray(0, 1)) !== '{') throw damaged('is no JSON object');
    }
    return { response };
  }

  destroy(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #exchange({ body, ...options }: HttpRequest): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const [{ request }, connected] =
      options.protocol === 'https:' ? [https, 'secureConnect'] : [http, 'connect'];
    const hostname = options.hostname.replace(/^\[(.*)\]$/, '$1'); // The SDK has IPv6 addresses in brackets.
    const outgoing = request({ ...options, hostname, agent: this.#agents[options.protocol] });
    outgoing.setHeader('User-Agent', userAgent);
    const signal = invocationSignal.getStore();
    let requestSent = false;
    let responseStarted = false;
    let closed = false;

    const fail = (message: string, cause?: unknown) => {
      if (closed) return;
      reject(new AttemptError(message, { requestSent, cause }));
      if (outgoing.socket) resetConnection(outgoing.socket);
      outgoing.destroy();
    };
    const abandon = () => fail(invocationOver);
    signal?.addEventListener('abort', abandon);
    // After a pause of the process, timers run before what has arrived meanwhile is read; immediates run after that.
    const timer = setTimeout(() => setImmediate(fail, 'no response in time'), attemptTimeoutMs);
    outgoing.once('socket', (socket) => {
      requestSent = outgoing.reusedSocket;
      if (!requestSent) socket.once(connected, () => (requestSent = true));
    });
    outgoing.once('response', (incoming) => {
      responseStarted = true;
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('error', (error) => fail(`the response breaks off: ${error.message}`, error));
      incoming.once('end', () => {
        // The SDK would wait for Retry-After, and the function's timeout would come first.
        const {
          'retry-after': _,
          'x-amz-retry-after': __,
          ...headers
        } = incoming.headers as HttpResponse['headers'];
        resolve({ statusCode: incoming.statusCode ?? 0, headers, body: Buffer.concat(chunks) });
      });
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message, error));
    // Not at the end of the response: a server that responds before it has read the request may never read the rest.
    outgoing.once('close', () => {
      if (!responseStarted) fail('the connection was closed without a response');
      closed = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
    });
    outgoing.end(body);
    return promise;
  }
}

function damaged(problem: string): AttemptError {
  return new AttemptError(`the response ${problem}`, { requestSent: true });
}
