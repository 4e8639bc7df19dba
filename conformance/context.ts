import { expectOutcome } from './expect.ts';
import {
  HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResponse,
  type RequestHeaders,
} from './http-client.ts';
import { inParallel } from './in-parallel.ts';
import { outcomes } from './outcomes.ts';

export interface ContextOptions extends HttpClientOptions {
  readonly username: string;
  readonly password: string;
  /** The service's SECRET_TOKEN; without it, cases that forge valid tokens cannot run. */
  readonly secret?: string | undefined;
  /** The service's CORS_ORIGIN, where it has one. */
  readonly corsOrigin?: string | undefined;
  /** When it is aborted, requests fail, except those that clean up. */
  readonly signal?: AbortSignal | undefined;
}

/** Well before the 15 minutes of rule 5.5, so that no token expires on its way. */
const renewAfterMs = 10 * 60 * 1000;

const deletionsAtOnce = 16;
const jsonType = { 'Content-Type': 'application/json' };

/** What all contexts of a run share. */
class Session {
  readonly client: HttpClient;
  readonly options: ContextOptions;
  #lastLogin: Promise<unknown> = Promise.resolve();
  #token: Promise<string> | undefined;
  #renewAt = 0;

  constructor(options: ContextOptions) {
    this.client = new HttpClient(options);
    this.options = options;
  }

  /** Gives a valid token; the same one for 10 minutes. */
  token(): Promise<string> {
    if (this.#token === undefined || Date.now() > this.#renewAt) {
      this.#renewAt = Date.now() + renewAfterMs;
      const { username, password } = this.options;
      const login = this.logIn({ headers: jsonType, body: encodeBody({ username, password }) });
      this.#token = login.then((response) => {
        return (expectOutcome(response, outcomes.tokenGenerated) as { token: string }).token;
      });
      this.#token.catch(() => {
        this.#token = undefined;
      });
    }
    return this.#token;
  }

  /** Sends one login at a time: deployments throttle POST /token. */
  logIn(request: Omit<HttpRequest, 'method' | 'path'>): Promise<HttpResponse> {
    const send = () => this.client.send({ method: 'POST', path: '/token', ...request });
    const response = this.#lastLogin.then(send);
    this.#lastLogin = response.catch(() => {});
    return response;
  }
}

/** What a case works with: a way to the service, a token, and the books that it made. */
export class ConformanceContext {
  readonly options: ContextOptions;
  /** In a large catalog, an id before those of all books of this run: lists are then read in pages from there. */
  listStart: number | undefined;
  readonly #session: Session;
  readonly #parent: ConformanceContext | undefined;
  readonly #responses: HttpResponse[];
  readonly #bookIds = new Set<number>();

  constructor(options: ContextOptions, parent?: ConformanceContext, responses: HttpResponse[] = []) {
    this.options = options;
    this.listStart = parent?.listStart;
    this.#session = parent ? parent.#session : new Session(options);
    this.#parent = parent;
    this.#responses = responses;
  }

  /** Makes a context with books of its own to clean up; those that cannot be deleted are left to this one. */
  fork(responses?: HttpResponse[]): ConformanceContext {
    return new ConformanceContext(this.options, this, responses);
  }

  get credentials() {
    const { username, password } = this.options;
    return { username, password };
  }

  token(): Promise<string> {
    return this.#session.token();
  }

  /** Turns a path below the base URL into a URL, as a client that follows a link would. */
  resolve(path: string): URL {
    return this.#session.client.resolve(path);
  }

  /** Sends a request as it is, without a token. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    this.options.signal?.throwIfAborted();
    return this.#session.client.send(request, (response) => {
      this.#recordBook(response);
      this.#responses.push(response);
    });
  }

  /** Sends a request with a valid token; a body that is no text and no bytes is sent as JSON. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: RequestHeaders = jsonType,
  ): Promise<HttpResponse> {
    const request = { method, path, headers: { Authorization: await this.token(), ...headers } };
    return this.send(body === undefined ? request : { ...request, body: encodeBody(body) });
  }

  /** Sends a request to POST /token, after all earlier ones have their responses. */
  async logIn(body: unknown, headers: RequestHeaders = jsonType): Promise<HttpResponse> {
    this.options.signal?.throwIfAborted();
    return this.#session.logIn({ headers, body: encodeBody(body) });
  }

  /** Deletes the books of this context that are still there. @returns the ids that could not be deleted */
  async cleanUp(): Promise<readonly number[]> {
    const ids = [...this.#bookIds];
    await inParallel(ids.length, deletionsAtOnce, async (index) => {
      const headers = { Authorization: await this.token() };
      const request = { method: 'DELETE', path: `/book/${ids[index]}`, headers };
      const response = await this.#session.client.send(request).catch(() => undefined);
      if (response?.status === 200 || response?.status === 404) this.#bookIds.delete(ids[index] as number);
    });
    for (const id of this.#bookIds) if (this.#parent) this.#parent.#bookIds.add(id);
    return [...this.#bookIds];
  }

  close(): void {
    this.#session.client.close();
  }

  /** Remembers a book that has come, also one that should have been refused, and forgets one that has gone. */
  #recordBook({ request: { method, path }, status, body }: HttpResponse): void {
    if (method === 'POST' && path.startsWith('/book') && status < 300) {
      const id = /"id"\s*:\s*(?<id>\d+)/.exec(body.toString())?.groups?.id;
      if (id !== undefined) this.#bookIds.add(Number(id));
    }
    if (method === 'DELETE' && status === 200) this.#bookIds.delete(Number(path.slice('/book/'.length)));
  }
}

function encodeBody(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}
