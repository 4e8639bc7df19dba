import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BookFile, describeFile, type FileOptions, openFile, type Row, readRows } from './book-file.ts';
import { type Access, openCatalog } from './catalog.ts';
import { formatCount, report, startProgress } from './report.ts';

/** `import FILE`; the path `-` is standard input, and a batch distinguishes its rows from equal rows of another. */
export interface ImportCommand extends Access, FileOptions, Readonly<Record<'path' | 'batch', string>> {
  /** Rows that begin before this line were sent before. */
  readonly fromLine: number;
  readonly parallel: number;
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

/** Creates one book for each row of a file, in any number of calls. @returns the number of rejected rows */
export async function importBooks(command: ImportCommand, stop: AbortSignal): Promise<number> {
  if (command.path !== '-') return importFile(command, command.path, stop);
  // The file is read twice, because all rows are checked before the first one is sent.
  const folder = await mkdtemp(join(tmpdir(), 'books-'));
  try {
    const path = join(folder, 'input');
    await pipeline(process.stdin, createWriteStream(path), { signal: stop });
    return await importFile(command, path, stop);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function importFile(command: ImportCommand, path: string, stop: AbortSignal): Promise<number> {
  const file = await openFile(path, command);
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
async function checkRows({ file, command, rejections, stop }: OpenImport): Promise<number> {
  let total = 0;
  let line = 0;
  const printProgress = startProgress(() => `${formatCount(line, 'line')} checked`);
  for await (const row of readRows(file)) {
    stop.throwIfAborted();
    line = row.line;
    printProgress();
    if (line < command.fromLine) continue;
    if ('reason' in row) {
      rejections.add(line, row.reason);
      continue;
    }
    if (total === 0) report('The first books:');
    if (total < shownBooks) report(`  ${JSON.stringify(row.book).slice(0, maxShownLength)}`);
    total += 1;
  }
  return total;
}

/** Adds the idempotency key of each book: a digest of its fields, and the number of equal rows so far. */
async function* readKeyedRows(file: BookFile, batch: string): AsyncGenerator<KeyedRow> {
  // Counts by 40 bits of the digest. A collision makes another key, which is still unique. One map for all of a million
  // rows would take three times the memory: integers of 32 bits take none beside their entries, and small maps grow alone.
  const occurrences = Array.from({ length: 2 ** 8 }, () => new Map<number, number>());
  for await (const row of readRows(file)) {
    if ('reason' in row) continue;
    const digest = hash('sha256', JSON.stringify([batch, ...Object.values(row.book)]), 'buffer');
    const counts = occurrences[digest.readUInt8()] as Map<number, number>;
    const part = digest.readInt32BE(1);
    const occurrence = (counts.get(part) ?? 0) + 1;
    counts.set(part, occurrence);
    yield { ...row, key: `import-${digest.toString('base64url')}-${occurrence}` };
  }
}

/** Sends the rows, several at a time. */
async function sendRows({ file, command, rejections, stop }: OpenImport, total: number): Promise<void> {
  const catalog = openCatalog(command, stop);
  const startedAt = performance.now();
  /** The lines of rows whose outcome is not known, in ascending order. */
  const unfinished = new Set<number>();
  let nextLine = command.fromLine;
  let [created, replayed] = [0, 0];
  const findFirstUnfinished = () => unfinished.values().next().value ?? nextLine;
  const printProgress = startProgress(() => {
    const done = created + replayed;
    const percent = Math.floor((done / total) * 100);
    return `${formatCount(done)} of ${formatCount(total, 'row')} done (${percent} %), all before line ${findFirstUnfinished()}`;
  });

  const queue = (async function* () {
    for await (const row of readKeyedRows(file, command.batch)) {
      if (stop.aborted) return;
      if (row.line < command.fromLine) continue;
      unfinished.add(row.line);
      nextLine = row.line + 1;
      yield row;
    }
  })();
  // A failed worker closes the queue, which ends the others after their responses.
  const work = async () => {
    for await (const { line, book, key } of queue) {
      const outcome = await catalog.createBook(book, key);
      unfinished.delete(line);
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
  if (replayed > 0) {
    const them = replayed === 1 ? 'it' : 'them';
    report(`${formatCount(replayed, 'row')} imported before; --batch NAME creates ${them} again`);
  }
  if (failure === undefined && !stop.aborted) return;
  report(`To go on with the same file, add --from-line ${findFirstUnfinished()}`);
  stop.throwIfAborted();
  throw failure?.reason;
}
