import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { CommandError } from './errors.ts';
import { formatCount } from './progress.ts';

/** What distinguishes an import from others, and whether to go on with an old one. */
type Import = Readonly<Record<'path' | 'baseUrl' | 'batch', string>> & { readonly yes: boolean };

/** How many rows an import has, and the digest of their keys. */
export type Rows = { readonly total: number; readonly digest: string };

/** When the import of these rows began (ISO 8601), and how many of them are done. */
type ImportState = Rows & { readonly startedAt: string; done: number };

/** Short enough that a killed import repeats few rows. */
const saveIntervalMs = 1_000;

/** The service remembers a key for 7 days; less, because a repeated import takes time to reach its last row. */
const keysAreKnownForMs = 6.5 * 24 * 3600 * 1000;

/**
 * Finds the first row to send: after the last run, unless the rows have changed. `FILE.checkpoint` has the progress of the
 * imports to each service, until they are done. It only saves time: without it an import repeats every row, and the
 * idempotency keys prevent duplicates.
 */
export async function openCheckpoint({ path, baseUrl, batch, yes }: Import, rows: Rows) {
  const checkpointPath = `${path}.checkpoint`;
  const target = [baseUrl, batch].filter(Boolean).join(' ');
  const text = readFile(checkpointPath, 'utf8');
  const states: Record<string, ImportState> = await text.then(JSON.parse).catch(() => ({}));
  const fresh = { ...rows, startedAt: new Date().toISOString(), done: 0 };
  const last = states[target] ?? fresh;
  let state = last.digest === rows.digest ? last : { ...fresh, startedAt: last.startedAt };
  if (Date.now() - Date.parse(last.startedAt) >= keysAreKnownForMs) {
    const isUnfinished = state === last && last.done < last.total;
    const danger = isUnfinished ? `rows in flight after row ${formatCount(last.done)}` : 'all rows';
    const began = `This import began on ${last.startedAt.slice(0, 10)}`;
    const warning = `${began}, and the service recognises rows for 7 days: ${danger} may become books again.`;
    if (!yes) throw new CommandError(`${warning} To go on, add --yes`);
    if (!isUnfinished) state = fresh;
  }
  states[target] = state;

  let savedAt = Number.NEGATIVE_INFINITY;
  const save = () => {
    // Standard input has no checkpoint.
    if (path === '-') return;
    savedAt = performance.now();
    const part = `${checkpointPath}.part`;
    // When this fails, a repeated import begins at its first row.
    try {
      writeFileSync(part, `${JSON.stringify(states)}\n`);
      renameSync(part, checkpointPath);
      if (Object.keys(states).length === 0) rmSync(checkpointPath);
    } catch {}
  };
  return {
    state,
    /** Saves the state when the last time is long ago. */
    saveSometimes() {
      if (performance.now() - savedAt >= saveIntervalMs) save();
    },
    /** Removes the state when all rows are done, and saves it otherwise, if a row has been sent. */
    end() {
      if (state.done === state.total) delete states[target];
      else if (savedAt === Number.NEGATIVE_INFINITY) return;
      save();
    },
  };
}
