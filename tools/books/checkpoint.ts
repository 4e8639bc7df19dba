import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { CommandError } from './errors.ts';
import type { ImportCommand } from './import-books.ts';
import { formatCount } from './progress.ts';

/** How many rows an import has, the digest of their keys, when it began (ISO 8601), and how many rows are done. */
type ImportState = { total: number; digest: string; startedAt: string; done: number };
type Rows = Pick<ImportState, 'total' | 'digest'>;
type Options = Pick<ImportCommand, 'checkpointPath' | 'baseUrl' | 'batch' | 'yes'>;

/** Short enough that a killed import repeats few rows. */
const saveIntervalMs = 1_000;

/** The service remembers a key for 7 days; less, because a repeated import takes time to reach its last row. */
const keysAreKnownForMs = 6.5 * 24 * 3600 * 1000;

/**
 * The progress of the imports of a file, one for each service. It only saves time: without it an import repeats every row,
 * and the idempotency keys prevent duplicates.
 */
export class Checkpoint {
  readonly state: ImportState;
  readonly #path: string;
  readonly #target: string;
  readonly #states: Record<string, ImportState>;
  #savedAt = Number.NEGATIVE_INFINITY;

  private constructor(path: string, states: Record<string, ImportState>, target: string, state: ImportState) {
    this.#path = path;
    this.#target = target;
    this.#states = { ...states, [target]: state };
    this.state = state;
  }

  /** Finds the first row to send: after the last run, unless the rows have changed. */
  static async open({ checkpointPath, baseUrl, batch, yes }: Options, rows: Rows): Promise<Checkpoint> {
    const target = [baseUrl, batch].filter(Boolean).join(' ');
    const text = readFile(checkpointPath, 'utf8');
    const states: Record<string, ImportState> = await text.then(JSON.parse).catch(() => ({}));
    const begin = (state: ImportState) => new Checkpoint(checkpointPath, states, target, state);
    const fresh = { ...rows, startedAt: new Date().toISOString(), done: 0 };
    const last = states[target] ?? fresh;
    const resumed = last.digest === rows.digest ? last : { ...fresh, startedAt: last.startedAt };
    if (Date.now() - Date.parse(last.startedAt) < keysAreKnownForMs) return begin(resumed);
    const isUnfinished = resumed === last && last.done < last.total;
    const danger = isUnfinished ? `rows in flight after row ${formatCount(last.done)}` : 'all rows';
    const began = `This import began on ${last.startedAt.slice(0, 10)}`;
    const warning = `${began}, and the service recognises rows for 7 days: ${danger} may become books again.`;
    if (!yes) await confirm(warning);
    return begin(isUnfinished ? resumed : fresh);
  }

  /** Saves the state when the last time is long ago. */
  saveSometimes(): void {
    if (performance.now() - this.#savedAt >= saveIntervalMs) this.#save();
  }

  /** Removes the state when all rows are done, and saves it otherwise. */
  end(): void {
    if (this.state.done === this.state.total) delete this.#states[this.#target];
    this.#save();
  }

  /** When this fails, a repeated import begins at its first row. */
  #save(): void {
    // Standard input has no checkpoint.
    if (this.#path === '') return;
    this.#savedAt = performance.now();
    const part = `${this.#path}.part`;
    try {
      writeFileSync(part, `${JSON.stringify(this.#states)}\n`);
      renameSync(part, this.#path);
      if (Object.keys(this.#states).length === 0) rmSync(this.#path);
    } catch {}
  }
}

async function confirm(warning: string): Promise<void> {
  if (!process.stdin.isTTY) throw new CommandError(`${warning} To go on, add --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await terminal.question(`${warning} Go on? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new CommandError('Nothing was sent');
}
