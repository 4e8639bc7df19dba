import { access } from 'node:fs/promises';
import { CatalogClient } from './catalog-client.ts';
import { checkFile } from './check-file.ts';
import type { ImportCommand } from './command-line.ts';
import { findLastId } from './find-last-id.ts';
import { type ImportIdentity, Journal } from './journal.ts';
import { acquireLock } from './lock.ts';
import type { Endurance } from './patience.ts';
import { formatCount, startProgress } from './progress.ts';
import { toFileError } from './read-rows.ts';
import { RejectionReport } from './rejection-report.ts';
import { sendFile } from './send-file.ts';

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
