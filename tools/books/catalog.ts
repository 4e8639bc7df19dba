import { setTimeout as wait } from 'node:timers/promises';
import type { BookFields } from '../../lib/books/book.ts';
import { type Book, BookCatalogError, createBookCatalogClient } from '../client/book-catalog-client.ts';
import type { Retry } from '../client/retries.ts';
import { CommandError } from './errors.ts';
import { report } from './report.ts';

/** The address and credentials of the service, and how long to retry. */
export interface Access extends Readonly<Record<'baseUrl' | 'username' | 'password', string>> {
  readonly giveUpAfterMs: number;
}

/** Statuses with which the service refuses a book. */
const refusals = [400, 413, 422];

/** A page of the largest books (400 KB) stays below the 200 MB of a Lambda stream. */
const pageSize = 400;

/**
 * The service for this command; every failure that ends the command is a {@link CommandError}. `stop` ends waiting, not what
 * was sent.
 */
export function openCatalog(access: Access, stop: AbortSignal) {
  const { baseUrl, username, giveUpAfterMs } = access;
  const fail = (error: unknown): never => {
    if (!(error instanceof BookCatalogError)) throw error;
    const reason = describe(error);
    throw new CommandError(error.status === undefined ? reason : `cannot use ${baseUrl} as ${username}: ${reason}`);
  };
  let reached = false;
  let reported = '';
  const retries = {
    giveUpAfterMs,
    wait: async ({ error, waitMs }: Retry) => {
      // Before the first response, a wrong URL is more likely than an outage.
      if (!reached) throw error;
      const reason = describe(error);
      if (reason !== reported) report(`${reason}; trying again for up to ${giveUpAfterMs / 1000} s`);
      reported = reason;
      await wait(waitMs, undefined, { signal: stop });
    },
  };
  const fetch: typeof globalThis.fetch = async (...request) => {
    const response = await globalThis.fetch(...request);
    reached = true;
    return response;
  };
  const client = createBookCatalogClient({ ...access, retries, fetch });
  return {
    /** Creates a book, or replays an earlier request with the same key. @returns the reason when the service refuses it */
    async createBook(book: BookFields, idempotencyKey: string) {
      try {
        return await client.createBook(book, { idempotencyKey });
      } catch (error) {
        const isRefusal = error instanceof BookCatalogError && refusals.includes(error.status ?? 0);
        return isRefusal ? { refusal: describe(error) } : fail(error);
      }
    },
    /** Reads all books in the order of their ids. */
    async *listBooks(): AsyncGenerator<Book> {
      try {
        yield* client.listBooks({ pageSize });
      } catch (error) {
        fail(error);
      }
    },
  };
}

/** @returns a text like "the service responded 503 Service unavailable" */
function describe({ status, message }: BookCatalogError): string {
  return status === undefined ? message : `the service responded ${status} ${message}`;
}
