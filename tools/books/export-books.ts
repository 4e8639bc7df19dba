import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import type { Book } from '../../lib/books/book.ts';
import { CatalogClient } from './catalog-client.ts';
import type { ExportCommand } from './command-line.ts';
import { findLastId } from './find-last-id.ts';
import { formatCount, type Progress, startProgress } from './progress.ts';
import { toFileError } from './read-rows.ts';

/** The most that GET /books gives in a page. */
const maxPageLimit = 1000;

/** What a page is kept to, for catalogs of large books: a Lambda function answers with at most 6 MB in one piece. */
const targetPageSize = 2 * 1024 * 1024;

/**
 * Writes all books in the order of their ids. Books that are created or deleted meanwhile may or may not be among them.
 *
 * It reads page by page and not the whole list at once: a page whose connection breaks is simply asked for again, a
 * token can expire in between, and neither side holds more than a page.
 *
 * @param command - where from and where to
 * @param stop - aborted when the user wants the command to end
 * @throws {CommandError} when it cannot go on; an existing file is as it was
 * @throws an AbortError when it was stopped
 */
export async function exportBooks(command: ExportCommand, stop: AbortSignal): Promise<void> {
  let progress: Progress | undefined;
  const client = new CatalogClient(command, {
    giveUpAfterMs: command.giveUpAfterMs,
    stop,
    onTrouble: (reason) => progress?.say(reason),
  });
  progress = startProgress(await findLastId(client));
  try {
    const rows = Readable.from(readBooks(client, progress, stop));
    const text =
      command.format === 'csv'
        ? rows.compose(
            stringify({
              header: true,
              columns: ['id', 'title', 'author', 'year'],
              // Also those that need no quotes, so that a lone CR or leading space is read as it was written.
              quoted_string: true,
            }),
          )
        : Readable.from(toLines(rows));
    await write(text, command.path, stop);
  } finally {
    progress.end();
  }
}

async function* readBooks(
  client: CatalogClient,
  progress: Progress,
  stop: AbortSignal,
): AsyncGenerator<Book> {
  let after = 0;
  let limit = maxPageLimit;
  let count = 0;
  for (let more = true; more; ) {
    stop.throwIfAborted();
    const page = await client.readPage(after, limit);
    yield* page.books;
    more = page.more;
    after = page.books.at(-1)?.id ?? after;
    count += page.books.length;
    progress.update(after, `${formatCount(count, 'book')}`);
    const averageSize = page.size / Math.max(page.books.length, 1);
    limit = Math.min(maxPageLimit, Math.max(1, Math.floor(targetPageSize / averageSize)));
  }
  progress.end();
  console.error(`${formatCount(count, 'book')} exported`);
}

async function* toLines(books: AsyncIterable<Book>): AsyncGenerator<string> {
  for await (const { id, title, author, year } of books) {
    yield `${JSON.stringify({ id, title, author, year })}\n`;
  }
}

/** A file is there only when it is complete. */
async function write(
  text: NodeJS.ReadableStream,
  path: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (path === undefined) return pipeline(text, process.stdout, { signal, end: false });
  const part = `${path}.part`;
  try {
    await pipeline(text, createWriteStream(part), { signal });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw toFileError(path, error);
  }
}
