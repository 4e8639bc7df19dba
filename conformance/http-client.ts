import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { checkResponse } from './contract/check-response.ts';
import type { HttpRequest, HttpResponse } from './http-messages.ts';

export interface HttpClientOptions {
  /** May end in a path, such as the stage of an API Gateway. */
  readonly baseUrl: string;
  /** Sent in place of the host of `baseUrl`. */
  readonly hostHeader?: string | undefined;
  /** The maximum number of requests in flight; others wait. */
  readonly requestsAtOnce?: number | undefined;
}

const timeoutMs = 30_000;

/** Servers close idle connections, some after 5 s; a request sent at that moment would fail. */
const maxIdleMs = 2_000;

/** Above what any test has in flight at once. */
const maxSockets = 64;

/** A throttled stage accepts requests again within a second or two, an address over its limit within a minute or two. */
const throttledAttempts = 10;

interface SendOptions {
  readonly observe?: (response: HttpResponse) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends requests unaltered, unlike `fetch`, which normalizes paths, joins headers and adds its own. openapi.yaml
 * has to describe every response.
 */
export class HttpClient {
  readonly #url: URL;
  readonly #hostHeader: string | undefined;
  readonly #protocol: typeof http | typeof https;
  readonly #agent: http.Agent;

  constructor({ baseUrl, hostHeader, requestsAtOnce = maxSockets }: HttpClientOptions) {
    this.#url = new URL(baseUrl);
    this.#hostHeader = hostHeader;
    this.#protocol = this.#url.protocol === 'https:' ? https : http;
    this.#agent = new this.#protocol.Agent({ keepAlive: true, maxSockets: requestsAtOnce, timeout: maxIdleMs });
  }

  /** Turns a path below the base URL into a URL. */
  resolve(path: string): URL {
    return new URL(this.#url.pathname.replace(/\/$/, '') + path, this.#url);
  }

  /**
   * Sends a request, and sends it again after the `Retry-After` of a 429: 1 s of API Gateway, 60 s of AWS WAF.
   *
   * @param options.observe - receives each response before it is compared with openapi.yaml
   * @param options.signal - ends the wait
   * @throws an Error when no response arrives, or one that openapi.yaml does not describe
   */
  async send(request: HttpRequest, { observe, signal }: SendOptions = {}): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#exchange(request);
      observe?.(response);
      if (request.maxResponseBytes === undefined) checkResponse(response);
      if (response.status !== 429 || attempt === throttledAttempts) return response;
      await wait(Number(response.headers['retry-after']) * 1000, undefined, { signal });
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #exchange(request: HttpRequest): Promise<HttpResponse> {
    const { method, path, headers, body, maxResponseBytes = Number.POSITIVE_INFINITY } = request;
    const outgoing = this.#protocol.request(this.#url, {
      agent: this.#agent,
      method,
      path: this.#url.pathname.replace(/\/$/, '') + path,
      headers: { ...(this.#hostHeader !== undefined && { Host: this.#hostHeader }), ...headers },
      timeout: timeoutMs,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no bytes within ${timeoutMs / 1000} s`)));
    // A server may respond and disconnect before it has read the body.
    outgoing.on('error', () => {});
    outgoing.end(body);
    try {
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of incoming) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= maxResponseBytes) break;
      }
      const { statusCode: status = 0, headers } = incoming;
      return { request, status, headers, body: Buffer.concat(chunks) };
    } catch (cause) {
      // A refused connection to a name with several addresses is an AggregateError without a message.
      const { message, errors } = cause as AggregateError;
      throw new Error(`${method} ${path}: ${message || errors}`, { cause });
    }
  }
}

/** The body of a response. */
export type Envelope = Readonly<{ status: number; message: string; data: unknown }>;

/** Sends one request on a new connection and parses the body of the response. */
export async function request(url: string, { method = 'GET', ...init }: Partial<Omit<HttpRequest, 'path'>> = {}) {
  const { origin, pathname, search } = new URL(url);
  const client = new HttpClient({ baseUrl: origin });
  const sent = client.send({ method, path: pathname + search, ...init });
  const response = await sent.finally(() => client.close());
  return { ...response, envelope: JSON.parse(response.body.toString()) as Envelope };
}
