import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, lstatSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Book } from '../../lib/books/book.ts';
import type { Format } from './book-file.ts';
import { type Access, openCatalog } from './catalog.ts';
import { fieldNames } from './columns.ts';
import { CommandError } from './errors.ts';
import { formatCount, report, showControlCharacters, startProgress } from './report.ts';

/** `export [FILE]`; no path stands for standard output. */
interface ExportCommand extends Access {
  readonly path: string | undefined;
  readonly format: Format;
  /** Whether a spreadsheet will open the file. */
  readonly forSpreadsheet: boolean;
}

/** How much text is written at a time. To write each row alone would cost more than to format it. */
const chunkLength = 64 * 1024;

/** Without it, Excel reads UTF-8 in the encoding of the system. */
const byteOrderMark = '\ufeff';

/** What formulas begin with, also in the full-width forms of East Asian texts. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Writes all books in the order of their ids. Books that are created or deleted meanwhile may or may not be included. It
 * retries a page after a lost connection. A file that is there already becomes `FILE~`, when the export is complete.
 */
export async function exportBooks(command: ExportCommand, stop: AbortSignal): Promise<void> {
  const { path } = command;
  const exported = { count: 0 };
  const text = Readable.from(formatBooks(openCatalog(command, stop).listBooks(), command, exported));
  const kept = path === undefined ? await print(text, stop) : await replaceFile(path, text, stop);
  if (kept !== undefined) report(`${formatCount(exported.count, 'book')} exported${kept}`);
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

/** Writes a file that appears only when it is complete. @returns what became of an earlier file */
async function replaceFile(path: string, text: Readable, stop: AbortSignal): Promise<string> {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (existing?.isFile() === false) {
    throw new CommandError(`${path} is not a regular file; name another one, or - for standard output`);
  }
  // Another export to the same file may be running, also in another container, where process ids are the same.
  const part = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    await pipeline(text, createWriteStream(part), { signal: stop });
    const isKept = existsSync(path);
    if (isKept) renameSync(path, `${path}~`);
    renameSync(part, path);
    return isKept ? `; the file that was there is ${path}~` : '';
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Yields many rows at a time, and counts them in `exported`. */
async function* formatBooks(
  books: AsyncIterable<Book>,
  { path, format, forSpreadsheet }: ExportCommand,
  exported: { count: number },
): AsyncGenerator<string> {
  const toText = path === undefined && process.stdout.isTTY ? showControlCharacters : (text: string) => text;
  const printProgress = startProgress(() => `${formatCount(exported.count, 'book')} so far`);
  if (format === 'csv') yield `${forSpreadsheet ? byteOrderMark : ''}id,${fieldNames}\n`;
  let text = '';
  for await (const book of books) {
    printProgress();
    text += format === 'csv' ? formatRow(book, forSpreadsheet) : formatLine(book);
    exported.count += 1;
    if (text.length < chunkLength) continue;
    yield toText(text);
    text = '';
  }
  yield toText(text);
}

function formatRow(book: Book, forSpreadsheet: boolean): string {
  const cells = fieldNames.map((name) => {
    const value = book[name];
    // Always in quotation marks, so that a lone CR is preserved.
    return typeof value === 'string'
      ? `"${(forSpreadsheet ? disarm(value) : value).replaceAll('"', '""')}"`
      : (value satisfies number | boolean);
  });
  return `${book.id},${cells}\n`;
}

/** Makes a text of what a spreadsheet would take for a formula (OWASP, "CSV Injection"). */
function disarm(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}

function formatLine(book: Book): string {
  return `${JSON.stringify({ id: book.id, ...Object.fromEntries(fieldNames.map((name) => [name, book[name]])) })}\n`;
}
