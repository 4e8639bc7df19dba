import { setTimeout as wait } from 'node:timers/promises';
import type { BookFields } from '../../lib/books/book.ts';
import { BookCatalogError, createBookCatalogClient } from '../client/book-catalog-client.ts';
import { describeConnectionLoss, describeResponse, isConnectionLoss } from '../client/retries.ts';
import { CommandError } from './errors.ts';
import { PlainRequest, sendRequest } from './send-request.ts';

/** The address and credentials of the service, and how long to retry. */
export interface Access extends Readonly<Record<'baseUrl' | 'username' | 'password', string>> {
  readonly giveUpAfterMs: number;
}

/** Statuses with which the service refuses a book. */
const refusals = [400, 413, 422];

/**
 * The service for this command; every failure that ends the command is a {@link CommandError}. `stop` ends waiting, not what
 * was sent.
 */
export function openCatalog(access: Access, stop: AbortSignal) {
  const { baseUrl, username, giveUpAfterMs } = access;
  const fail = (reason: string) => new CommandError(`cannot use ${baseUrl} as ${username}: ${reason}`);
  const explain = (error: unknown): never => {
    if (isConnectionLoss(error)) throw fail(describeConnectionLoss(error));
    throw error instanceof BookCatalogError ? fail(`there is no token: ${error.message}`) : error;
  };
  let reached = false;
  let reported = '';
  const client = createBookCatalogClient({
    ...access,
    Request: PlainRequest as object as typeof Request,
    fetch: async (request) => {
      const response = await sendRequest(request as object as PlainRequest);
      reached = true;
      return response;
    },
    retries: {
      giveUpAfterMs,
      wait: async ({ reason, waitMs }) => {
        // Before the first response, a wrong URL is more likely than an outage.
        if (!reached) throw fail(reason);
        if (reason !== reported) console.error(`${reason}; trying again for up to ${giveUpAfterMs / 1000} s`);
        reported = reason;
        await wait(waitMs, undefined, { signal: stop });
      },
    },
  });
  return {
    /** Creates a book, or replays an earlier request with the same key. @returns the reason when the service refuses it */
    async createBook(body: BookFields, idempotencyKey: string) {
      const params = { header: { 'Idempotency-Key': idempotencyKey } };
      const result = await client.POST('/book', { body, params }).catch(explain);
      if (refusals.includes(result.response.status)) return { refusal: describeResponse(result) };
      if (result.data === undefined) throw fail(describeResponse(result));
      return { isReplay: result.response.headers.has('Idempotency-Replayed') };
    },
    /** Reads at most `limit` books with ids above `after`. */
    async readPage(after: number, limit: number) {
      const params = { query: { limit, after } };
      const result = await client.GET('/books', { params }).catch(explain);
      if (!Array.isArray(result.data?.data)) throw fail(describeResponse(result));
      return { books: result.data.data, more: result.response.headers.has('Link') };
    },
  };
}
