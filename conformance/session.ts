import type { Book, Catalog } from './catalog.ts';
import { expectSuccess } from './expect.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import { outcomes } from './outcomes.ts';

export interface SessionOptions extends HttpClientOptions {
  readonly username: string;
  readonly password: string;
  /** The service's SECRET_TOKEN; without it, cases that forge valid tokens cannot run. */
  readonly secret?: string | undefined;
  /** The service's CORS_ORIGIN, where it has one. */
  readonly corsOrigin?: string | undefined;
  /** The service's TOKEN_LIFETIME in seconds, where it differs from the default. */
  readonly tokenLifetime?: number | undefined;
  /** When it is aborted, requests fail, except those that clean up. */
  readonly signal?: AbortSignal | undefined;
}

/** Rule 5.5. */
const defaultTokenLifetime = 900;

/** The part of its lifetime in which a token is used, so that none expires on its way. */
const usedShare = 2 / 3;

/** What all cases of a run share: the way to the service, and a token. */
export class Session extends HttpClient {
  readonly options: SessionOptions;
  /** In seconds. */
  readonly tokenLifetime: number;
  /** A book that cases share, because they do not change it. */
  sharedBook: Promise<Book> | undefined;
  /** What has made it, and deletes it at the end of a run. */
  sharedCatalog: Catalog | undefined;
  /** The ids of the responses to cases. */
  readonly requestIds = new Set<unknown>();
  /** The ids of books that cases could not delete. */
  readonly undeleted: number[] = [];
  #token = Promise.resolve('');
  #renewAt = 0;

  constructor(options: SessionOptions) {
    super(options);
    this.options = options;
    this.tokenLifetime = options.tokenLifetime ?? defaultTokenLifetime;
  }

  /** Gives a valid token; the same one as long as it stays valid for a while. */
  token(): Promise<string> {
    if (Date.now() > this.#renewAt) {
      this.#renewAt = Date.now() + this.tokenLifetime * usedShare * 1000;
      this.#token = this.#logIn();
      this.#token.catch(() => {
        this.#renewAt = 0;
      });
    }
    return this.#token;
  }

  async #logIn(): Promise<string> {
    const { username, password, signal } = this.options;
    const body = JSON.stringify({ username, password });
    const cleansUp = signal?.aborted;
    const response = await this.send({ method: 'POST', path: '/token', body }, cleansUp ? {} : { signal });
    if (response.status === outcomes.invalidCredentials.status) {
      throw new Error(`it does not accept the username ${username} with this password`);
    }
    return (expectSuccess(response) as { token: string }).token;
  }
}
