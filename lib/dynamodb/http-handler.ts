import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { AttemptError } from './attempt-error.ts';
import { createAgents, resetConnection } from './connection-agents.ts';
import { invocationSignal } from './invocation-signal.ts';

/** A connection to DynamoDB takes milliseconds; one that takes this long, on a laptop that is busy too, will not be made. */
const connectTimeoutMs = 1_000;

/**
 * The whole of an attempt: connection, request, and the response to its last byte. Long enough for a 1 MB page on a slow
 * line, and for a laptop that has other things to do.
 */
const attemptTimeoutMs = 2_800;

const invocationOver = 'the invocation is over';

/** A request of the SDK. */
interface HttpRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A response to the SDK. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  /** The whole body. */
  body: Uint8Array;
}

const requestFunctions: Readonly<Record<string, typeof http.request>> = {
  'http:': http.request,
  'https:': https.request,
};

/**
 * Makes the attempts at requests to DynamoDB, in place of the SDK's handler, with three promises that it does not give:
 *
 * - an attempt ends within one time limit, however slowly the response arrives;
 * - when it is given up, nothing of it is sent any more (see {@link resetConnection}); it is given up, and none is made
 *   after it, when the invocation is over: Lambda would freeze it and let it go on minutes after the client got its 503;
 * - a response is passed on only when it is whole: its CRC-32 is the one in `x-amz-crc32`, which DynamoDB always sends.
 *   Without that header it counts as damaged over HTTPS and from an engine that has sent the header before; from other
 *   engines it has to be a whole JSON object.
 */
export class AttemptHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #agents = createAgents();
  #sendsChecksums = false;

  /**
   * @param request - a signed request
   * @returns the response, whatever its status
   * @throws {AttemptError} when there is no whole response
   */
  async handle(request: HttpRequest): Promise<{ response: HttpResponse }> {
    if (invocationSignal.getStore()?.aborted) throw new AttemptError(invocationOver, { requestSent: false });
    const response = await this.#exchange(request);
    const { 'x-amz-crc32': checksum } = response.headers;
    if (checksum !== undefined) {
      this.#sendsChecksums = true;
      if (Number(checksum) !== crc32(response.body)) throw damaged('does not match its checksum');
    } else if (response.statusCode < 300) {
      if (this.#sendsChecksums || request.protocol === 'https:') throw damaged('has no checksum');
      if (!isJsonObject(response.body)) throw damaged('is no JSON object');
    }
    return { response };
  }

  /** Closes the connections that are kept open. */
  destroy(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Part of the SDK's interface; there is nothing to configure. */
  updateHttpClientConfig(): void {}

  /** Part of the SDK's interface. */
  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  #exchange({ protocol, hostname, port, method, path, headers, body }: HttpRequest): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    // The SDK has an IPv6 address as URLs have it.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const options = { host, port, method, path, headers, agent: this.#agents[protocol] };
    const outgoing = (requestFunctions[protocol] ?? http.request)(options);
    let requestSent = false;
    let responseStarted = false;
    let closed = false;

    const fail = (message: string, cause?: unknown) => {
      reject(new AttemptError(message, { requestSent, cause }));
      if (outgoing.socket) resetConnection(outgoing.socket);
      outgoing.destroy();
    };
    const attemptTimer = setTimeout(afterPoll, attemptTimeoutMs, () => {
      if (!closed) fail(`no response within ${attemptTimeoutMs} ms`);
    });
    outgoing.once('socket', (socket: Socket) => {
      if (!socket.connecting) {
        requestSent = true;
        return;
      }
      const connectTimer = setTimeout(afterPoll, connectTimeoutMs, () => {
        if (socket.connecting) fail(`no connection within ${connectTimeoutMs} ms`);
      });
      outgoing.once('close', () => clearTimeout(connectTimer));
      socket.once('connect', () => clearTimeout(connectTimer));
      socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        requestSent = true;
      });
    });
    const signal = invocationSignal.getStore();
    const abandon = () => fail(invocationOver);
    signal?.addEventListener('abort', abandon);
    // Not at the end of the response: a server that responds before it has read the request may never read the rest.
    outgoing.once('close', () => {
      closed = true;
      clearTimeout(attemptTimer);
      signal?.removeEventListener('abort', abandon);
      if (!responseStarted) fail('the connection was closed without a response');
    });
    outgoing.on('error', (error) => fail(describeError(error), error));
    outgoing.once('response', (incoming) => {
      responseStarted = true;
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('error', (error) => fail(`the response breaks off: ${error.message}`, error));
      incoming.once('end', () => {
        resolve({
          statusCode: incoming.statusCode ?? 0,
          headers: toHeaders(incoming.headers),
          body: Buffer.concat(chunks),
        });
      });
    });
    outgoing.end(body);
    return promise;
  }
}

/** After a pause of the process, timers run before what has arrived meanwhile is read. This reads it first. */
function afterPoll(action: () => void): void {
  setImmediate(action);
}

function damaged(problem: string): AttemptError {
  return new AttemptError(`the response ${problem}`, { requestSent: true });
}

/** Without what the SDK would wait for before a retry: the function's timeout would come first. */
function toHeaders({
  'retry-after': _retryAfter,
  'x-amz-retry-after': _retryAfterMs,
  ...headers
}: http.IncomingHttpHeaders): Record<string, string> {
  return headers as Record<string, string>;
}

function isJsonObject(body: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A refused connection to a name with several addresses is an AggregateError with an empty message. */
function describeError(error: Error): string {
  const [first = error] = error instanceof AggregateError ? (error.errors as Error[]) : [];
  return `${first.name}: ${first.message}`;
}
