import { setTimeout as wait } from 'node:timers/promises';
import type { BookFields } from '../../lib/books/book.ts';
import {
  type BookCatalogClient,
  createBookCatalogClient,
  LoginError,
} from '../client/book-catalog-client.ts';
import { describeConnectionLoss, describeResponse, isConnectionLoss } from '../client/retries.ts';
import { CommandError } from './errors.ts';
import { PlainRequest, sendRequest } from './send-request.ts';

/** The address and credentials of the service, and how long to retry. */
export interface Access extends Readonly<Record<'baseUrl' | 'username' | 'password', string>> {
  readonly giveUpAfterMs: number;
}

/** Statuses with which the service refuses a book. */
const refusals = [400, 413, 422];

/** The service for this command; every failure that ends the command is a {@link CommandError}. */
export class Catalog {
  readonly #access: Access;
  readonly #client: BookCatalogClient;
  #reached = false;
  #isRetrying = false;

  /** `stop` ends waiting, not what was sent. */
  constructor(access: Access, stop: AbortSignal) {
    let reported = '';
    this.#access = access;
    this.#client = createBookCatalogClient({
      ...access,
      Request: PlainRequest as object as typeof Request,
      fetch: async (request) => {
        const response = await sendRequest(request as object as PlainRequest);
        this.#reached = true;
        return response;
      },
      retries: {
        giveUpAfterMs: access.giveUpAfterMs,
        wait: async ({ reason, waitMs }) => {
          // Before the first response, a wrong URL is more likely than an outage.
          if (!this.#reached) throw this.#fail(reason);
          this.#isRetrying = true;
          if (reason !== reported) console.error(`${reason}; trying again`);
          reported = reason;
          await wait(waitMs, undefined, { signal: stop });
        },
      },
    });
  }

  /** Creates a book, or replays an earlier request with the same key. @returns the reason when the service refuses it */
  async createBook(body: BookFields, idempotencyKey: string) {
    const params = { header: { 'Idempotency-Key': idempotencyKey } };
    const result = await this.#client.POST('/book', { body, params }).catch(this.#explain);
    if (refusals.includes(result.response.status)) return { refusal: describeResponse(result) };
    if (result.data === undefined) throw this.#fail(describeResponse(result));
    this.#isRetrying = false;
    return { isReplay: result.response.headers.has('Idempotency-Replayed') };
  }

  /** Reads at most `limit` books with ids above `after`. */
  async readPage(after: number, limit: number) {
    const params = { query: { limit, after } };
    const result = await this.#client.GET('/books', { params }).catch(this.#explain);
    if (!Array.isArray(result.data?.data)) throw this.#fail(describeResponse(result));
    this.#isRetrying = false;
    return { books: result.data.data, more: result.response.headers.has('Link') };
  }

  readonly #explain = (error: unknown): never => {
    if (isConnectionLoss(error)) throw this.#fail(describeConnectionLoss(error));
    throw error instanceof LoginError ? this.#fail(`there is no token: ${error.message}`) : error;
  };

  #fail(reason: string): CommandError {
    const { baseUrl, username, giveUpAfterMs } = this.#access;
    const effort = this.#isRetrying ? `, after up to ${giveUpAfterMs / 1000} s of trying` : '';
    return new CommandError(`cannot use ${baseUrl} as ${username}${effort}: ${reason}`);
  }
}
