import { setTimeout as wait } from 'node:timers/promises';
import type { BookFields } from '../../lib/books/book.ts';
import { type Book, BookCatalogError, createBookCatalogClient } from '../client/book-catalog-client.ts';
import type { Retry } from '../client/retries.ts';
import { CommandError } from './errors.ts';
import { report } from './report.ts';

/** The address and credentials of the service. */
export type Access = Readonly<Record<'baseUrl' | 'username' | 'password', string>>;

/** After too many requests from one address, `Retry-After` asks for a minute. There is time for two of these waits. */
const giveUpAfterMs = 180_000;

/** Statuses with which the service refuses a book. */
const refusals = [400, 413, 422];

/**
 * Opens the service for a command. Every failure that ends the command is a {@link CommandError}. `stop` ends a wait, but no
 * request that was sent.
 */
export function openCatalog(access: Access, stop: AbortSignal) {
  const { baseUrl, username } = access;
  const fail = (error: unknown): never => {
    if (!(error instanceof BookCatalogError)) throw error;
    const reason = describe(error);
    throw new CommandError(error.status === undefined ? reason : `cannot use ${baseUrl} as ${username}: ${reason}`);
  };
  let reported = '';
  const retries = {
    giveUpAfterMs,
    wait: async ({ error, waitMs }: Retry) => {
      const reason = describe(error);
      if (reason !== reported) report(`${reason}; trying again`);
      reported = reason;
      await wait(waitMs, undefined, { signal: stop });
    },
  };
  const client = createBookCatalogClient({ ...access, retries });
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
        yield* client.listBooks();
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
