import { createWriteStream, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Book } from '../../lib/books/book.ts';
import type { Format } from './book-file.ts';
import { type Access, openCatalog } from './catalog.ts';
import { fieldNames } from './columns.ts';
import { quoteCell } from './csv.ts';
import { CommandError } from './errors.ts';
import { formatCount } from './progress.ts';

/** `export [FILE]`; no path stands for standard output. */
type ExportCommand = Access & { readonly path: string | undefined; readonly format: Format };

/** How much text is written at a time: a row alone would cost more than it takes to format it. */
const chunkLength = 64 * 1024;

/**
 * Writes all books in the order of their ids. Books that are created or deleted meanwhile may or may not be included. It
 * retries a page after a lost connection. A file that is there already becomes `FILE~`, when the export is complete.
 */
export async function exportBooks(command: ExportCommand, stop: AbortSignal): Promise<void> {
  const { path, format } = command;
  const exported = { count: 0 };
  const text = Readable.from(formatBooks(openCatalog(command, stop).listBooks(), format, exported));
  const kept = path === undefined ? await print(text, stop) : await replaceFile(path, text, stop);
  if (kept !== undefined) console.error(`${formatCount(exported.count, 'book')} exported${kept}`);
}

/** @returns nothing when the reader has closed the pipe, as in `export | head` */
async function print(text: Readable, stop: AbortSignal): Promise<'' | undefined> {
  try {
    await pipeline(text, process.stdout, { signal: stop, end: false });
    return '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    return undefined;
  }
}

/** Writes a file that is there only when it is complete. @returns what became of the one before */
async function replaceFile(path: string, text: Readable, stop: AbortSignal): Promise<string> {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isDirectory()) throw new CommandError(`${path} is a folder; name a file in it`);
  const part = `${path}.part`;
  try {
    await pipeline(text, createWriteStream(part), { signal: stop });
    if (existing) await rename(path, `${path}~`);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return existing ? `; the file that was there is ${path}~` : '';
}

/** Yields many rows at a time, and counts them in `exported`. */
async function* formatBooks(
  books: AsyncIterable<Book>,
  format: Format,
  exported: { count: number },
): AsyncGenerator<string> {
  if (format === 'csv') yield `id,${fieldNames}\n`;
  let text = '';
  for await (const book of books) {
    text += formatRow(book, format);
    exported.count += 1;
    if (text.length < chunkLength) continue;
    yield text;
    text = '';
  }
  yield text;
}

function formatRow(book: Book, format: Format): string {
  const values = fieldNames.map((name) => [name, book[name]] as const);
  if (format === 'csv') {
    // Texts are always in quotes, so that a lone CR is preserved.
    const cells = values.map(([, value]) => (typeof value === 'string' ? quoteCell(value) : value));
    return `${book.id},${cells}\n`;
  }
  const members = { id: book.id, ...Object.fromEntries(values) };
  // The import treats U+FFFD as a lost byte unless it is escaped.
  return `${JSON.stringify(members).replaceAll('\ufffd', '\\ufffd')}\n`;
}
