import { createHash, hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BookFile, describeFile, type FileOptions, openFile, readRows } from './book-file.ts';
import { type Access, openCatalog } from './catalog.ts';
import { openCheckpoint, type Rows } from './checkpoint.ts';
import { formatCount, startProgress } from './progress.ts';
import { RejectedRows } from './rejected-rows.ts';

/** `import FILE`; the path `-` is standard input, and a batch distinguishes its rows from equal rows of another. */
export interface ImportCommand extends Access, FileOptions, Readonly<Record<'path' | 'batch', string>> {
  readonly parallel: number;
  readonly dryRun: boolean;
  readonly yes: boolean;
  /** By default next to the file, with the extension of its format. */
  readonly rejectedPath: string | undefined;
}

type OpenImport = { file: BookFile; command: ImportCommand; rejected: RejectedRows; stop: AbortSignal };

const shownBooks = 3;
const maxShownLength = 200;

/** Creates one book for each row of a file, in any number of calls. @returns the number of rejected rows */
export async function importBooks(command: ImportCommand, stop: AbortSignal): Promise<number> {
  if (command.path !== '-') return importFile(command, command.path, stop);
  // The file is read more than once, because all rows are checked before the first one is sent.
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
  console.error(describeFile(file));
  const name = command.path === '-' ? 'standard-input' : command.path;
  const rejected = new RejectedRows(command.rejectedPath ?? `${name}.rejected.${file.format}`, file);
  try {
    const rows = await checkRows(file, command, rejected);
    if (command.dryRun) console.error(`${formatCount(rows.total, 'row')} can become books; nothing was sent`);
    else await sendRows({ file, command, rejected, stop }, rows);
  } finally {
    rejected.report();
  }
  return rejected.count;
}

/** Rejects invalid rows, and counts the others. */
async function checkRows(file: BookFile, { batch }: ImportCommand, rejected: RejectedRows) {
  const keys = createHash('sha256');
  let total = 0;
  for await (const row of readKeyedRows(file, batch)) {
    if ('reason' in row) {
      rejected.add(row, row.reason);
      continue;
    }
    if (total === 0) console.error('The first books:');
    if (total < shownBooks) console.error(`  ${JSON.stringify(row.book).slice(0, maxShownLength)}`);
    keys.update(row.key);
    total += 1;
  }
  return { total, digest: keys.digest('base64url') };
}

/** Adds the idempotency key of each row that can become a book: a digest of its fields, and the number of equal rows so far. */
async function* readKeyedRows(file: BookFile, batch: string) {
  // Counts by a part of the digest, to save memory. A collision makes another key, which is still unique.
  const occurrences = new Map<number, number>();
  for await (const row of readRows(file)) {
    if ('reason' in row) {
      yield row;
      continue;
    }
    const digest = hash('sha256', JSON.stringify([batch, ...Object.values(row.book)]), 'buffer');
    const part = digest.readUIntBE(0, 6);
    const occurrence = (occurrences.get(part) ?? 0) + 1;
    occurrences.set(part, occurrence);
    yield { ...row, key: `import-${digest.toString('base64url')}-${occurrence}` };
  }
}

/** Sends the rows that are not done, several at a time. */
async function sendRows({ file, command, rejected, stop }: OpenImport, rows: Rows): Promise<void> {
  const checkpoint = await openCheckpoint(command, rows);
  const { state } = checkpoint;
  const skipped = state.done;
  if (skipped > 0) console.error(`Continuing: ${formatCount(skipped, 'row')} done before`);
  const startedAt = performance.now();
  const printProgress = startProgress(state.total);
  const doneAhead = new Set<number>();
  let [created, replayed] = [0, 0];
  const catalog = openCatalog(command, stop);
  const queue = (async function* () {
    let index = 0;
    for await (const row of readKeyedRows(file, command.batch)) {
      if (stop.aborted) return;
      if ('reason' in row) continue;
      if (index >= skipped) yield { row, index };
      index += 1;
    }
  })();
  // A failed worker closes the queue, which ends the others after their responses.
  const work = async () => {
    for await (const { row, index } of queue) {
      const outcome = await catalog.createBook(row.book, row.key);
      if ('refusal' in outcome) {
        // It is not done: the next run reports it again.
        rejected.add(row, outcome.refusal);
        continue;
      }
      if (outcome.replayed) replayed += 1;
      else created += 1;
      doneAhead.add(index);
      while (doneAhead.delete(state.done)) state.done += 1;
      checkpoint.saveSometimes();
      printProgress(skipped + created + replayed);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: command.parallel }, work));
  checkpoint.end();
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined && created + replayed === 0) throw failure.reason;
  const seconds = Math.max((performance.now() - startedAt) / 1000, 0.001);
  const perSecond = formatCount(Math.round((created + replayed) / seconds));
  console.error(`${formatCount(created, 'book')} created in ${seconds.toFixed(1)} s (${perSecond}/s)`);
  if (replayed > 0) {
    const them = replayed === 1 ? 'it' : 'them';
    const known = `${formatCount(replayed, 'row')} already imported in the last 7 days`;
    console.error(`${known}; --batch NAME creates ${them} again`);
  }
  stop.throwIfAborted();
  if (failure !== undefined) throw failure.reason;
}
