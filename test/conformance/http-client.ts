import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { checkAnswer } from '../support/contract/check-answer.ts';

/** Headers by name; those with an array are sent once for each value. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A request as it goes over the wire: nothing is added but `Host`, `Content-Length` and `Connection`. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query below the base URL, sent as they are. */
  readonly path: string;
  readonly headers?: RequestHeaders;
  readonly body?: string | Buffer;
  /** Read no more of the response than this, and hang up; what was read is then not compared with openapi.yaml. */
  readonly maxResponseBytes?: number;
}

/** An answer with its undecoded body, and the request that it belongs to. */
export interface HttpAnswer {
  readonly request: HttpRequest;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Where to send requests. */
export interface HttpClientOptions {
  /** May hold a path that comes before every path, such as the stage of an API Gateway. */
  readonly baseUrl: string;
  /** Sent in place of the host of `baseUrl`. */
  readonly hostHeader?: string | undefined;
  /** How many requests are in flight at once; others wait. By default, as many as the cases send. */
  readonly requestsAtOnce?: number | undefined;
}

const requestTimeoutMs = 30_000;

/** Servers close connections that nothing was sent on for a while, some after 5 s; one used at that moment would break. */
const maxIdleMs = 2_000;

/** Above what any case has in flight at once, so that only a mistake in a case would ever queue here. */
const maxSockets = 64;

/** A throttled stage takes requests again within a second or two, a limit per client address within a minute or two. */
const throttledAttempts = 10;
const defaultRetryAfterSeconds = 1;
const maxRetryAfterSeconds = 60;

/** No answer came: the connection failed, was cut, or the time ran out. */
class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/**
 * A client that sends requests unaltered, which `fetch` does not: it normalises paths, joins headers and adds its own.
 * Every answer has to be one that openapi.yaml describes.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #url: URL;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#url = new URL(options.baseUrl);
    const Agent = this.#url.protocol === 'https:' ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: options.requestsAtOnce ?? maxSockets,
      timeout: maxIdleMs,
    });
  }

  /**
   * Turns a path below the base URL into a URL.
   *
   * @param path - path and query, as in {@link HttpRequest}
   */
  resolve(path: string): URL {
    return new URL(this.#prefix + path, this.#url);
  }

  /**
   * Sends a request, and sends it again while the answer is 429.
   *
   * @param request - what to send
   * @param observe - is given each response before it is compared with openapi.yaml
   * @throws {ConnectionError} when there is no answer
   * @throws an Error when the answer is not one that openapi.yaml describes
   */
  async send(request: HttpRequest, observe?: (answer: HttpAnswer) => void): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#exchange(request);
      observe?.(answer);
      if (request.maxResponseBytes === undefined) checkAnswer(answer);
      if (answer.status !== 429 || attempt === throttledAttempts) return answer;
      const seconds = Number(answer.headers['retry-after'] ?? defaultRetryAfterSeconds);
      await wait(Math.min(seconds || defaultRetryAfterSeconds, maxRetryAfterSeconds) * 1000);
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  get #prefix(): string {
    return this.#url.pathname.replace(/\/$/, '');
  }

  #exchange(request: HttpRequest): Promise<HttpAnswer> {
    const { method, path, headers, body, maxResponseBytes = Number.POSITIVE_INFINITY } = request;
    const { hostHeader } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const send = this.#url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = send({
      agent: this.#agent,
      hostname: this.#url.hostname.replace(/^\[|\]$/g, ''),
      port: this.#url.port,
      method,
      path: this.#prefix + path,
      headers: { ...(hostHeader === undefined ? {} : { Host: hostHeader }), ...headers },
    });
    let timer: NodeJS.Timeout | undefined;
    // A request may have waited for its turn.
    outgoing.once('socket', () => {
      timer = setTimeout(() => {
        outgoing.destroy(new Error(`no complete answer within ${requestTimeoutMs / 1000} s`));
      }, requestTimeoutMs);
    });
    const fail = (cause: Error) =>
      reject(new ConnectionError(`${method} ${path}: ${describe(cause)}`, { cause }));
    outgoing.on('error', fail);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const finish = () => {
        const status = incoming.statusCode ?? 0;
        resolve({ request, status, headers: incoming.headers, body: Buffer.concat(chunks) });
      };
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes < maxResponseBytes) return;
        finish();
        outgoing.destroy();
      });
      incoming.on('error', fail);
      incoming.on('end', finish);
    });
    outgoing.end(body);
    return promise.finally(() => clearTimeout(timer));
  }
}

/** A refused connection to a name with several addresses is an AggregateError without a text of its own. */
function describe(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(String).join(', ');
  return error.message;
}
