import { setTimeout as wait } from 'node:timers/promises';
import type { Book, BookFields } from '../../lib/books/book.ts';
import {
  type BookCatalogClient,
  createBookCatalogClient,
  LoginError,
} from '../client/book-catalog-client.ts';
import { describeConnectionLoss, describeResponse, isConnectionLoss } from '../client/retries.ts';
import { CommandError } from './errors.ts';

/** Where the service is, who asks, and how long to try. */
export interface Access extends Readonly<Record<'baseUrl' | 'username' | 'password', string>> {
  readonly giveUpAfterMs: number;
}

/** What the service has against a book, and not against this command. */
const refusals = [400, 413, 422];

/** The service as this command uses it: whatever keeps it from going on is a {@link CommandError}. */
export class Catalog {
  readonly #access: Access;
  readonly #client: BookCatalogClient;
  #reached = false;

  /** `stop` ends waiting, not what was sent; `say` is told why the command waits. */
  constructor(access: Access, stop: AbortSignal, say: (text: string) => void) {
    this.#access = access;
    this.#client = createBookCatalogClient({
      ...access,
      fetch: async (request) => {
        const response = await fetch(request);
        this.#reached = true;
        return response;
      },
      retries: {
        giveUpAfterMs: access.giveUpAfterMs,
        wait: async ({ reason, waitMs }) => {
          // Before the first response the URL is more likely to be wrong than the service to be away for a moment.
          if (!this.#reached) throw this.#fail(reason);
          say(`${reason}; trying again`);
          await wait(waitMs, undefined, { signal: stop });
        },
      },
    });
  }

  /** Creates a book, unless a request with the same key did: then it is a replay. A refusal says why there is none. */
  async createBook(
    body: BookFields,
    idempotencyKey: string,
  ): Promise<{ isReplay?: boolean; refusal?: string }> {
    const result = await this.#client.POST('/book', { body, idempotencyKey }).catch(this.#explain);
    if (refusals.includes(result.response.status)) return { refusal: describeResponse(result) };
    if (result.data === undefined) throw this.#fail(describeResponse(result));
    return { isReplay: result.response.headers.has('Idempotency-Replayed') };
  }

  /** Reads at most `limit` books with ids above `after`. */
  async readPage(after: number, limit: number): Promise<{ books: readonly Book[]; more: boolean }> {
    const params = { query: { limit, after } };
    const result = await this.#client.GET('/books', { params }).catch(this.#explain);
    if (!Array.isArray(result.data?.data)) throw this.#fail(describeResponse(result));
    return { books: result.data.data, more: result.response.headers.has('Link') };
  }

  readonly #explain = (error: unknown): never => {
    if (isConnectionLoss(error)) throw this.#fail(describeConnectionLoss(error));
    throw error instanceof LoginError ? this.#fail(`there is no token: ${error.message}`) : error;
  };

  #fail(reason: string): CommandError {
    const { baseUrl, username, giveUpAfterMs } = this.#access;
    return new CommandError(
      `cannot use ${baseUrl} as ${username}, after up to ${giveUpAfterMs / 1000} s of trying: ${reason}`,
    );
  }
}
