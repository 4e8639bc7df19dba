import { hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { bookFields } from '../../lib/books/book.ts';
import { type BookFile, describeFile, type FileOptions, openFile, type Row, readRows } from './book-file.ts';
import { type Access, openCatalog } from './catalog.ts';
import type { FieldName } from './columns.ts';
import { CommandError } from './errors.ts';
import { formatCount, report, startProgress } from './report.ts';

/** `import FILE`; the path `-` is standard input. */
export interface ImportCommand extends Access, FileOptions {
  readonly path: string;
  readonly parallel: number;
  /** Whether each row of a file with ids becomes a new book. */
  readonly takesNewIds: boolean;
  readonly dryRun: boolean;
}

/** An import whose file has been opened. */
interface OpenImport {
  readonly file: BookFile;
  readonly command: ImportCommand;
  readonly rejections: Rejections;
  readonly stop: AbortSignal;
}

type KeyedRow = Extract<Row, { book: unknown }> & { readonly key: string };

const shownBooks = 3;
const maxShownLength = 200;

/** More reasons would hide the first ones. */
const shownReasons = 100;

/** Creates one book for each row of a file, however often it is called. @returns the number of rejected rows */
export async function importBooks(command: ImportCommand, stop: AbortSignal): Promise<number> {
  const { path } = command;
  if (path !== '-' && (await stat(path)).isFile()) return importFile(command, path, stop);
  // A pipe can be read once. A file is read again, because all rows are checked before the first one is sent.
  const folder = await mkdtemp(join(tmpdir(), 'books-'));
  try {
    const copy = join(folder, 'input');
    const input = path === '-' ? process.stdin : createReadStream(path);
    await pipeline(input, createWriteStream(copy), { signal: stop });
    return await importFile(command, copy, stop);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function importFile(command: ImportCommand, path: string, stop: AbortSignal): Promise<number> {
  const file = await openFile(path, command);
  if (file.hasIds && !command.takesNewIds) {
    throw new CommandError('The file has ids. An import changes no book: with --new-ids, each row becomes a new one');
  }
  report(describeFile(file));
  const rejections = new Rejections();
  try {
    const opened = { file, command, rejections, stop };
    const total = await checkRows(opened);
    if (command.dryRun) report(`${formatCount(total, 'row')} can become books; nothing was sent`);
    else await sendRows(opened, total);
  } finally {
    rejections.conclude();
  }
  return rejections.count;
}

/** The rows that are not books. */
class Rejections {
  count = 0;

  add(line: number, reason: string): void {
    this.count += 1;
    if (this.count <= shownReasons) report(`  line ${line}: ${reason}`);
  }

  conclude(): void {
    const more = this.count > shownReasons ? `; ${formatCount(this.count - shownReasons)} of them are not shown` : '';
    if (this.count > 0) report(`${formatCount(this.count, 'row')} rejected${more}`);
  }
}

/** Rejects rows that are not books. @returns how many of the others are to be sent */
async function checkRows({ file, rejections, stop }: OpenImport): Promise<number> {
  let [total, shown, line] = [0, 0, 0];
  // Books in ASCII look the same in most encodings, so they would not show whether this one is right.
  const isUnicode = file.encoding.startsWith('utf-');
  const printProgress = startProgress(() => `${formatCount(line, 'line')} checked`);
  for await (const row of readRows(file)) {
    stop.throwIfAborted();
    line = row.line;
    printProgress();
    if ('reason' in row) {
      rejections.add(line, row.reason);
      continue;
    }
    total += 1;
    if (shown === shownBooks) continue;
    const text = JSON.stringify(row.book);
    if (!isUnicode && !/[^\0-\x7f]/.test(text)) continue;
    if (shown === 0) report(`The first books${isUnicode ? '' : ' beyond ASCII'}:`);
    report(`  ${text.slice(0, maxShownLength)}`);
    shown += 1;
  }
  return total;
}

/**
 * Adds the idempotency key of each book: a digest of its fields, and the number of equal rows so far. Defaults are left out, so
 * that the key stays the same when the table of fields gets another one.
 */
async function* readKeyedRows(file: BookFile): AsyncGenerator<KeyedRow> {
  const occurrences = new Map<string, number>();
  for await (const row of readRows(file)) {
    if ('reason' in row) continue;
    const given = Object.entries(row.book).filter(([name, value]) => value !== bookFields[name as FieldName].default);
    const digest = hash('sha256', JSON.stringify(given), 'base64url');
    const occurrence = (occurrences.get(digest) ?? 0) + 1;
    occurrences.set(digest, occurrence);
    yield { ...row, key: `import-${digest}-${occurrence}` };
  }
}

/** Sends the rows, several at a time. */
async function sendRows({ file, command, rejections, stop }: OpenImport, total: number): Promise<void> {
  const catalog = openCatalog(command, stop);
  const startedAt = performance.now();
  let [created, replayed] = [0, 0];
  const printProgress = startProgress(() => {
    const done = created + replayed;
    return `${formatCount(done)} of ${formatCount(total, 'row')} done (${Math.floor((done / total) * 100)} %)`;
  });

  // A worker that leaves the loop closes the rows. That ends the other workers after their responses.
  const rows = readKeyedRows(file);
  const work = async () => {
    for await (const { line, book, key } of rows) {
      if (stop.aborted) return;
      const outcome = await catalog.createBook(book, key);
      if ('refusal' in outcome) rejections.add(line, outcome.refusal);
      else if (outcome.replayed) replayed += 1;
      else created += 1;
      printProgress();
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: command.parallel }, work));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined && created + replayed === 0) throw failure.reason;
  const seconds = Math.max((performance.now() - startedAt) / 1000, 0.001);
  const perSecond = formatCount(Math.round((created + replayed) / seconds));
  report(`${formatCount(created, 'book')} created in ${seconds.toFixed(1)} s (${perSecond}/s)`);
  if (replayed > 0) report(`${formatCount(replayed, 'row')} imported before, and not created again`);
  if (failure === undefined && !stop.aborted) return;
  report('Import the same file again to go on: no book is created twice');
  stop.throwIfAborted();
  throw failure?.reason;
}
