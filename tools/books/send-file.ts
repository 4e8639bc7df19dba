import type { CatalogClient } from './catalog-client.ts';
import type { ImportCommand } from './command-line.ts';
import type { Journal } from './journal.ts';
import type { UncertainRow } from './match-books.ts';
import type { Endurance } from './patience.ts';
import { formatCount, type Progress } from './progress.ts';
import { readRows } from './read-rows.ts';
import type { RejectionReport } from './rejection-report.ts';
import type { ValidRow } from './row.ts';
import { RowSender } from './row-sender.ts';

/** Rows whose sending is made known with one write to the disk. More of them would have to be looked up after a kill. */
const batchSize = 64;

/** Batches that may wait for their last answers while later ones are sent. It bounds what a resumed run has to hold. */
const maxOpenBatches = 4;

/** What the sending of a file works with. */
export interface Sending {
  readonly client: CatalogClient;
  readonly journal: Journal;
  readonly endurance: Endurance;
  readonly progress: Progress;
  readonly report: RejectionReport;
}

/**
 * Sends the rows of a file that were not sent before, and settles those whose fate an earlier run left open.
 *
 * @param command - which file, and how
 * @param sending - what to work with
 * @throws {CommandError} when it cannot go on
 */
export async function sendFile(command: ImportCommand, sending: Sending): Promise<void> {
  const { client, journal, endurance, progress, report } = sending;
  const { ledger } = journal;
  const { parallel, settleMs } = command;
  const createdBefore = ledger.created;
  const startedAt = performance.now();
  const seconds = () => Math.max((performance.now() - startedAt) / 1000, 0.001);
  const perSecond = () => formatCount(Math.round((ledger.created - createdBefore) / seconds()));

  sayWhereItGoesOn(command, sending);
  const onRefused = ({ line, book }: ValidRow, reason: string) =>
    report.add({ line, reason, record: JSON.stringify(book) });
  const sender = new RowSender({ client, journal, endurance, parallel, settleMs, onRefused });
  try {
    const done = await sendRows(command, journal, sender, {
      onRefused,
      onDone: (rows) => {
        const counts = `${formatCount(ledger.created)} created, ${formatCount(report.count)} rejected`;
        progress.update(rows, `${counts}, ${perSecond()}/s`);
      },
    });
    progress.update(done, `${formatCount(ledger.created)} created`);
  } finally {
    await sender.abandon();
  }
  progress.end();
  const created = formatCount(ledger.created - createdBefore, 'book');
  console.error(`${created} created in ${seconds().toFixed(1)} s (${perSecond()}/s)`);
}

function sayWhereItGoesOn({ path }: ImportCommand, { journal: { ledger }, progress }: Sending): void {
  if (ledger.complete) progress.say(`${path} was imported before; to do it again, remove its journal`);
  else if (ledger.lastLine > 0) {
    progress.say(`Continuing: ${formatCount(ledger.created, 'book')} created before`);
  }
}

interface Listener {
  readonly onRefused: (row: ValidRow, reason: string) => void;
  /** Is told how many rows are done. */
  readonly onDone: (rows: number) => void;
}

/** @returns how many rows are done, those of earlier runs included */
async function sendRows(
  { path, format }: ImportCommand,
  journal: Journal,
  sender: RowSender,
  { onRefused, onDone }: Listener,
): Promise<number> {
  const { ledger } = journal;
  const leftOpen: UncertainRow[] = [];
  const batch: ValidRow[] = [];
  let done = 0;

  const sendBatch = async () => {
    const rows = batch.splice(0);
    if (rows.length === 0) return;
    await sender.waitFor(() => ledger.openBatches < maxOpenBatches);
    const above = await journal.begin(rows.map(({ line }) => line));
    for (const row of rows) {
      await sender.send({ ...row, above });
      done += 1;
      onDone(done);
    }
  };

  for await (const row of readRows(path, format)) {
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
  return done;
}
