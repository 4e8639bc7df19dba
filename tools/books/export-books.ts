import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Format } from './book-file.ts';
import { type Access, openCatalog } from './catalog.ts';
import { fieldNames } from './columns.ts';
import { quoteCell } from './csv.ts';
import { formatCount } from './progress.ts';

/** `export [FILE]`; no path stands for standard output. */
type ExportCommand = Access & { readonly path: string | undefined; readonly format: Format };

/** A page of the largest books (400 KB) stays below the 200 MB of a Lambda stream. */
const pageLimit = 400;

/**
 * Writes all books in the order of their ids. Books that are created or deleted meanwhile may or may not be included. It
 * retries a page after a lost connection. When it fails, an existing file stays unchanged.
 */
export async function exportBooks(command: ExportCommand, stop: AbortSignal): Promise<void> {
  const { path, format } = command;
  const text = Readable.from(readPages(openCatalog(command, stop), format));
  if (path === undefined) {
    return pipeline(text, process.stdout, { signal: stop, end: false }).catch((error: NodeJS.ErrnoException) => {
      // The reader has closed the pipe: `export | head`.
      if (error.code !== 'EPIPE') throw error;
    });
  }
  const part = `${path}.part`;
  try {
    await pipeline(text, createWriteStream(part), { signal: stop });
    // A file is there only when it is complete.
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function* readPages(catalog: ReturnType<typeof openCatalog>, format: Format): AsyncGenerator<string> {
  if (format === 'csv') yield `id,${fieldNames}\n`;
  let after = 0;
  let count = 0;
  for (let more = true; more; ) {
    const page = await catalog.readPage(after, pageLimit);
    const rows = page.books.map((book) => {
      const values = fieldNames.map((name) => [name, book[name]] as const);
      if (format === 'csv') {
        // Texts are always in quotes, so that a lone CR is preserved.
        const cells = values.map(([, value]) => (typeof value === 'string' ? quoteCell(value) : value));
        return `${book.id},${cells}\n`;
      }
      const members = { id: book.id, ...Object.fromEntries(values) };
      // The import treats U+FFFD as a lost byte unless it is escaped.
      return `${JSON.stringify(members).replaceAll('\ufffd', '\\ufffd')}\n`;
    });
    yield rows.join('');
    more = page.more;
    after = page.books.at(-1)?.id ?? after;
    count += page.books.length;
  }
  console.error(`${formatCount(count, 'book')} exported`);
}
