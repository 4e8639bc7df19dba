import {
  HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResponse,
  type RequestHeaders,
} from '../support/http-client.ts';
import { OwnBooks } from './own-books.ts';
import { type Credentials, Session } from './session.ts';

/** Which service to test, and how to log in. */
export interface ContextOptions extends HttpClientOptions, Credentials {
  /** The service's SECRET_TOKEN; without it, cases that need tokens of their own making cannot run. */
  readonly secret?: string | undefined;
  /** The service's CORS_ORIGIN, where it has one. */
  readonly corsOrigin?: string | undefined;
  /** When it is aborted, requests fail, except those that clean up. */
  readonly signal?: AbortSignal | undefined;
  /** In a large catalog, an id before those of all books of this run: lists are then read in pages from there. */
  readonly listStart?: number | undefined;
  /** Is given each response, and each failure to get one. */
  readonly observe?: ((exchange: Exchange) => void) | undefined;
}

/** A request, and the response or why there was none. */
export interface Exchange {
  readonly request: HttpRequest;
  readonly result: HttpResponse | Error;
}

/** What a case works with: a way to the service, a token, and the books that it made. */
export class ConformanceContext {
  readonly #options: ContextOptions;
  readonly #client: HttpClient;
  readonly #session: Session;
  readonly #books: OwnBooks;

  /** Use {@link createContext}. */
  constructor(options: ContextOptions, client: HttpClient, session: Session, books: OwnBooks) {
    this.#options = options;
    this.#client = client;
    this.#session = session;
    this.#books = books;
  }

  /** The one pair that the service knows. */
  get credentials(): Credentials {
    return this.#session.credentials;
  }

  /** The service's SECRET_TOKEN. */
  get secret(): string {
    const { secret } = this.#options;
    if (secret === undefined) throw new Error('this case needs the option `secret`');
    return secret;
  }

  /** The one web site whose scripts may call the service. */
  get corsOrigin(): string | undefined {
    return this.#options.corsOrigin;
  }

  /** In a large catalog, an id before those of all books of this run. */
  get listStart(): number | undefined {
    return this.#options.listStart;
  }

  /** Gives a valid token; the same one for 10 minutes. */
  token(): Promise<string> {
    return this.#session.token();
  }

  /**
   * Turns a path into a URL, as a client that follows a link would.
   *
   * @param path - path and query below the base URL
   */
  resolve(path: string): URL {
    return this.#client.resolve(path);
  }

  /**
   * Sends a request as it is, without a token.
   *
   * @param request - what to send
   */
  async send(request: HttpRequest): Promise<HttpResponse> {
    this.#options.signal?.throwIfAborted();
    const { observe } = this.#options;
    let answered = false;
    try {
      const answer = await this.#client.send(request, (result) => {
        answered = true;
        this.#books.record(result);
        observe?.({ request, result });
      });
      return answer;
    } catch (error) {
      if (!answered) observe?.({ request, result: error as Error });
      throw error;
    }
  }

  /**
   * Sends a request with a valid token.
   *
   * @param method - the HTTP method
   * @param path - path and query below the base URL
   * @param body - text and bytes go as they are, anything else as JSON
   * @param headers - more headers
   */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: RequestHeaders = { 'Content-Type': 'application/json' },
  ): Promise<HttpResponse> {
    const request = { method, path, headers: { Authorization: await this.token(), ...headers } };
    return this.send(body === undefined ? request : { ...request, body: encodeBody(body) });
  }

  /**
   * Sends a request to POST /token; these go one after the other.
   *
   * @param body - text and bytes go as they are, anything else as JSON
   * @param headers - the headers
   */
  async logIn(
    body: unknown,
    headers: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' },
  ): Promise<HttpResponse> {
    this.#options.signal?.throwIfAborted();
    return this.#session.send({ headers, body: encodeBody(body) });
  }

  /**
   * Makes a context that shares everything with this one but the books to clean up.
   *
   * @param changes - options that are others for it
   */
  fork(changes: Pick<ContextOptions, 'listStart' | 'observe'> = {}): ConformanceContext {
    const options = { ...this.#options, ...changes };
    return new ConformanceContext(options, this.#client, this.#session, new OwnBooks(this.#books));
  }

  /**
   * Deletes the books that were made with this context and are still there.
   *
   * @returns the ids of those that could not be deleted
   */
  async cleanUp(): Promise<readonly number[]> {
    return this.#books.deleteAll(async (id) => {
      const headers = { Authorization: await this.token() };
      return this.#client.send({ method: 'DELETE', path: `/book/${id}`, headers });
    });
  }

  /** Closes the connections to the service. */
  close(): void {
    this.#client.close();
  }
}

/**
 * Makes the context that the cases of the suite run with. Nothing is sent yet.
 *
 * @param options - the service and the credentials
 */
export function createContext(options: ContextOptions): ConformanceContext {
  const client = new HttpClient(options);
  const { username, password } = options;
  return new ConformanceContext(options, client, new Session(client, { username, password }), new OwnBooks());
}

function encodeBody(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}
