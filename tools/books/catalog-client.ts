import { decodeJwt } from 'jose';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { CommandError } from './errors.ts';
import { type Answer, type Exchange, exchange, type Request } from './exchange.ts';
import { type Endurance, Patience } from './patience.ts';

/** Where the service is and who asks. */
export interface Account {
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
}

/** What became of a book that was sent. */
export type Creation =
  | { readonly kind: 'created'; readonly id: number }
  | { readonly kind: 'refused'; readonly reason: string }
  /** It may or may not be in the catalog now. */
  | { readonly kind: 'uncertain'; readonly reason: string; readonly retryAfterMs: number };

/** Some books, ascending by id. */
export interface Page {
  readonly books: readonly Book[];
  readonly more: boolean;
  /** Length of its JSON. */
  readonly size: number;
}

/** How much of a token's lifetime is used, so that none expires on its way. */
const usedShareOfLifetime = 0.8;

/** What a service or a gateway in front of it answers when trying again may help. */
const passingStatuses = [429, 500, 502, 503, 504];

/** Talks to the service: logs in by itself, and tries again where that cannot do anything twice. */
export class CatalogClient {
  readonly #account: Account;
  readonly #endurance: Endurance;
  #token: Promise<string> | undefined;
  #renewAt = 0;
  #reached = false;

  /**
   * @param account - where the service is and who asks
   * @param endurance - how long to try
   */
  constructor(account: Account, endurance: Endurance) {
    this.#account = account;
    this.#endurance = endurance;
  }

  /**
   * Sends POST /book. It is sent again only when it was certainly not carried out: the connection was never made, the
   * gateway throttled it, or the token was refused.
   *
   * @param book - what to create
   * @throws {CommandError} when the service cannot be used
   */
  async createBook(book: BookFields): Promise<Creation> {
    const patience = new Patience(this.#endurance);
    for (;;) {
      const result = await this.#authorized({ method: 'POST', path: '/book', body: book });
      if (result.kind === 'lost') return { kind: 'uncertain', reason: result.reason, retryAfterMs: 0 };
      if (result.kind === 'unsent') {
        await patience.pause(this.#unreachable(result.reason));
        continue;
      }
      const { status } = result;
      if (status === 201) return { kind: 'created', id: readId(result) };
      if (status === 400 || status === 413) return { kind: 'refused', reason: describe(result) };
      if (status === 429) await patience.pause(describe(result), readRetryAfter(result));
      else if (passingStatuses.includes(status)) {
        return { kind: 'uncertain', reason: describe(result), retryAfterMs: readRetryAfter(result) };
      } else throw this.#unexpected(result);
    }
  }

  /**
   * Sends GET /books for one page, again and again until it is answered. The page that is asked for gets smaller when
   * the service cannot give it.
   *
   * @param after - the books' ids are higher than this
   * @param limit - how many at most, 1 to 1000
   * @throws {CommandError} when the service cannot be used
   */
  async readPage(after: number, limit: number): Promise<Page> {
    const patience = new Patience(this.#endurance);
    for (let size = limit; ; size = Math.ceil(size / 2)) {
      const result = await this.#authorized({ method: 'GET', path: `/books?limit=${size}&after=${after}` });
      if (result.kind !== 'answer') await patience.pause(this.#unreachable(result.reason));
      else if (result.status === 200) return readBooks(result);
      else if (passingStatuses.includes(result.status)) {
        await patience.pause(describe(result), readRetryAfter(result));
      } else throw this.#unexpected(result);
    }
  }

  /** A 401 to a token that was good before means that it expired early, or that the secret was changed. */
  async #authorized(request: Request): Promise<Exchange> {
    const token = await this.#validToken();
    const result = await this.#exchange({ ...request, token });
    if (result.kind !== 'answer' || result.status !== 401) return result;
    if ((await this.#token) === token) this.#token = undefined;
    return this.#exchange({ ...request, token: await this.#validToken() });
  }

  #validToken(): Promise<string> {
    if (this.#token === undefined || performance.now() > this.#renewAt) {
      this.#renewAt = Number.POSITIVE_INFINITY;
      this.#token = this.#logIn();
    }
    return this.#token;
  }

  async #logIn(): Promise<string> {
    const { username, password } = this.#account;
    const patience = new Patience(this.#endurance);
    for (;;) {
      const result = await this.#exchange({ method: 'POST', path: '/token', body: { username, password } });
      if (result.kind !== 'answer') {
        // Before the first answer the URL is more likely to be wrong than the service to be away for a moment.
        if (!this.#reached) throw new CommandError(this.#unreachable(result.reason));
        await patience.pause(this.#unreachable(result.reason));
      } else if (result.status === 200) return this.#acceptToken(result);
      else if (result.status === 401) {
        throw new CommandError(`the service does not know the username ${username} with this password`);
      } else if (passingStatuses.includes(result.status)) {
        await patience.pause(describe(result), readRetryAfter(result));
      } else throw this.#unexpected(result);
    }
  }

  /** By the service's own clock, since this machine's may be wrong. */
  #acceptToken(answer: Answer): string {
    const { token } = (answer.data ?? {}) as { readonly token: string };
    let exp: number | undefined;
    try {
      ({ exp } = decodeJwt(token));
    } catch {
      // Nor is anything but a string a token.
      throw this.#unexpected(answer);
    }
    const issuedAtMs = Date.parse(answer.headers.get('date') ?? '') || Date.now();
    const lifetimeMs = exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000 - issuedAtMs;
    this.#renewAt = performance.now() + lifetimeMs * usedShareOfLifetime;
    return token;
  }

  async #exchange(request: Request): Promise<Exchange> {
    const result = await exchange(this.#account.baseUrl, request);
    if (result.kind === 'answer') this.#reached = true;
    return result;
  }

  #unreachable(reason: string): string {
    return `the service at ${this.#account.baseUrl} cannot be reached: ${reason}`;
  }

  #unexpected(answer: Answer): CommandError {
    return new CommandError(
      `${describe(answer)}, which a book catalog does not; is ${this.#account.baseUrl} its base URL?`,
    );
  }
}

function describe({ status, message }: Answer): string {
  return `the service answered ${status} ${message}`;
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function readRetryAfter({ headers }: Answer): number {
  const value = headers.get('retry-after');
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.max(0, ms || 0);
}

function readId(answer: Answer): number {
  const { id } = (answer.data ?? {}) as { readonly id?: unknown };
  if (typeof id === 'number' && Number.isSafeInteger(id)) return id;
  throw new CommandError(`${describe(answer)} without an id`);
}

function readBooks(answer: Answer): Page {
  if (!Array.isArray(answer.data)) throw new CommandError(`${describe(answer)} without a list of books`);
  const more = /rel="?next"?/.test(answer.headers.get('link') ?? '');
  return { books: answer.data as readonly Book[], more, size: answer.size };
}
