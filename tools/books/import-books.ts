import { access } from 'node:fs/promises';
import { CatalogClient } from './catalog-client.ts';
import { checkFile } from './check-file.ts';
import type { ImportCommand } from './command-line.ts';
import { findLastId } from './find-last-id.ts';
import { type ImportIdentity, Journal } from './journal.ts';
import { acquireLock } from './lock.ts';
import type { UncertainRow } from './match-books.ts';
import type { Endurance } from './patience.ts';
import { formatCount, type Progress, startProgress } from './progress.ts';
import { readRows, toFileError } from './read-rows.ts';
import { RejectionReport } from './rejection-report.ts';
import type { ValidRow } from './row.ts';
import { RowSender } from './row-sender.ts';

/** Rows whose sending is made known with one write to the disk. More of them would have to be looked up after a kill. */
const batchSize = 64;

/** Batches that may wait for their last answers while later ones are sent. It bounds what a resumed run has to hold. */
const maxOpenBatches = 4;

/** How an import ended. */
export interface ImportResult {
  readonly rejected: number;
}

/**
 * Creates a book for each row of a file, once, however often the command is interrupted and called again.
 *
 * @param command - what to import
 * @param stop - aborted when the user wants the command to end
 * @throws {CommandError} when it cannot go on
 * @throws an AbortError when it was stopped
 */
export async function importBooks(command: ImportCommand, stop: AbortSignal): Promise<ImportResult> {
  await access(command.path).catch((error: unknown) => {
    throw toFileError(command.path, error);
  });
  if (command.dryRun) return checkAndImport(command, stop);
  const releaseLock = await acquireLock(`${command.journalPath}.lock`);
  try {
    return await checkAndImport(command, stop);
  } finally {
    await releaseLock();
  }
}

async function checkAndImport(command: ImportCommand, stop: AbortSignal): Promise<ImportResult> {
  const report = await RejectionReport.start(command.reportPath);
  try {
    const { valid, sha256 } = await checkFile(command.path, command.format, report);
    if (command.dryRun) console.error(`${formatCount(valid, 'row')} can become books; nothing was sent`);
    else await importChecked(command, { valid, sha256, report, stop });
    return { rejected: report.count };
  } finally {
    await report.end();
    if (report.count > 0) {
      console.error(`${formatCount(report.count, 'row')} rejected, see ${report.path}:\n${report.summary}`);
    }
  }
}

interface CheckedImport {
  readonly valid: number;
  readonly sha256: string;
  readonly report: RejectionReport;
  readonly stop: AbortSignal;
}

async function importChecked(command: ImportCommand, { valid, sha256, report, stop }: CheckedImport) {
  const progress = startProgress(valid);
  try {
    const endurance: Endurance = {
      giveUpAfterMs: command.giveUpAfterMs,
      stop,
      onTrouble: progress.say,
    };
    const client = new CatalogClient(command, endurance);
    const journal = await openJournal(
      command,
      { sha256, format: command.format, baseUrl: command.baseUrl },
      client,
    );
    try {
      await sendFile(command, { client, journal, endurance, progress, report });
    } finally {
      await journal.close();
    }
  } finally {
    progress.end();
  }
}

async function openJournal(
  command: ImportCommand,
  identity: ImportIdentity,
  client: CatalogClient,
): Promise<Journal> {
  const journal = await Journal.resume(command.journalPath, identity);
  return journal ?? Journal.create(command.journalPath, identity, await findLastId(client));
}

interface Sending {
  readonly client: CatalogClient;
  readonly journal: Journal;
  readonly endurance: Endurance;
  readonly progress: Progress;
  readonly report: RejectionReport;
}

async function sendFile(
  command: ImportCommand,
  { client, journal, endurance, progress, report }: Sending,
): Promise<void> {
  const { ledger } = journal;
  const createdBefore = ledger.created;
  if (ledger.complete)
    progress.say(`${command.path} was imported before; to do it again, remove its journal`);
  else if (ledger.lastLine > 0) {
    progress.say(`Continuing: ${formatCount(createdBefore, 'book')} created before`);
  }
  const onRefused = ({ line, book }: ValidRow, reason: string) =>
    report.add({ line, reason, record: JSON.stringify(book) });
  const { parallel, settleMs } = command;
  const sender = new RowSender({ client, journal, endurance, parallel, settleMs, onRefused });
  const startedAt = performance.now();
  const perSecond = () =>
    Math.round((ledger.created - createdBefore) / Math.max((performance.now() - startedAt) / 1000, 0.001));
  let done = 0;
  try {
    const leftOpen: UncertainRow[] = [];
    const batch: ValidRow[] = [];
    const sendBatch = async () => {
      const rows = batch.splice(0);
      if (rows.length === 0) return;
      await sender.waitFor(() => ledger.openBatches < maxOpenBatches);
      const above = await journal.begin(rows.map(({ line }) => line));
      for (const row of rows) {
        await sender.send({ ...row, above });
        done += 1;
        progress.update(
          done,
          `${formatCount(ledger.created)} created, ${formatCount(report.count)} rejected, ${formatCount(perSecond())}/s`,
        );
      }
    };
    for await (const row of readRows(command.path, command.format)) {
      if (!('book' in row)) continue;
      if (row.line > ledger.lastLine) {
        await sender.settle(leftOpen.splice(0));
        batch.push(row);
        if (batch.length === batchSize) await sendBatch();
        continue;
      }
      const above = ledger.pendingAbove(row.line);
      const refusal = ledger.refusal(row.line);
      if (above !== undefined) leftOpen.push({ ...row, above });
      else if (refusal !== undefined) onRefused(row, refusal);
      done += 1;
    }
    await sender.settle(leftOpen);
    await sendBatch();
    await sender.finish();
    if (!ledger.complete) journal.note({ complete: true });
  } finally {
    await sender.abandon();
  }
  progress.update(done, `${formatCount(ledger.created)} created`);
  progress.end();
  const created = ledger.created - createdBefore;
  console.error(
    `${formatCount(created, 'book')} created in ${((performance.now() - startedAt) / 1000).toFixed(1)} s (${formatCount(perSecond())}/s)`,
  );
}
