import { readFile, rename, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { CommandError } from './errors.ts';
import type { ImportCommand } from './import-books.ts';
import { formatCount } from './progress.ts';

/** How many rows an import has, the digest of their keys, when it began (ISO 8601), and how many rows are done. */
type ImportState = { total: number; digest: string; startedAt: string; done: number };
type Rows = Pick<ImportState, 'total' | 'digest'>;
type Options = Pick<ImportCommand, 'checkpointPath' | 'baseUrl' | 'batch' | 'yes'>;

/** Often enough that a killed import has little to send again. */
const saveIntervalMs = 1_000;

/** The service recognises a key for 7 days. An import that is called again takes a while until it is where it was. */
const keysAreKnownForMs = 6.5 * 24 * 3600 * 1000;

/**
 * Remembers how far the imports of a file have come, one for each service. Without it an import would only send every
 * row again: its idempotency keys keep rows from becoming books twice.
 */
export class Checkpoint {
  readonly state: ImportState;
  readonly #path: string;
  readonly #states: Record<string, ImportState>;
  #savedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, states: Record<string, ImportState>, target: string, state: ImportState) {
    this.#path = path;
    this.#states = states;
    this.state = state;
    states[target] = state;
  }

  /** Decides where to begin: where the last run was, unless the rows are others now. */
  static async open({ checkpointPath, baseUrl, batch, yes }: Options, rows: Rows): Promise<Checkpoint> {
    const target = [baseUrl, batch].filter(Boolean).join(' ');
    const text = readFile(checkpointPath, 'utf8');
    const states: Record<string, ImportState> = await text.then(JSON.parse).catch(() => ({}));
    const begin = (state: ImportState) => new Checkpoint(checkpointPath, states, target, state);
    const anew = { ...rows, startedAt: new Date().toISOString(), done: 0 };
    const last = states[target] ?? anew;
    const resumed = last.digest === rows.digest ? last : { ...anew, startedAt: last.startedAt };
    if (Date.now() - Date.parse(last.startedAt) < keysAreKnownForMs) return begin(resumed);
    const goesOn = resumed === last && last.done < last.total;
    const danger = goesOn ? `rows in flight after row ${formatCount(last.done)}` : 'all rows';
    const began = `This import began on ${last.startedAt.slice(0, 10)}`;
    const warning = `${began}, and the service recognises rows for 7 days: ${danger} may become books again.`;
    if (!yes) await confirm(warning);
    return begin(goesOn ? resumed : anew);
  }

  /** Saves the state when it has not been for a while. */
  saveSometimes(): void {
    if (performance.now() - this.#savedAt >= saveIntervalMs) void this.save();
  }

  /** Saves the state. Where that is not possible, an import that is called again begins at its first row. */
  async save(): Promise<void> {
    // Standard input has none.
    if (this.#path === '') return;
    this.#savedAt = performance.now();
    const text = `${JSON.stringify(this.#states)}\n`;
    const part = `${this.#path}.part`;
    this.#saving = this.#saving
      .then(() => writeFile(part, text))
      .then(() => rename(part, this.#path))
      .catch(() => {});
    await this.#saving;
  }
}

async function confirm(warning: string): Promise<void> {
  if (!process.stdin.isTTY) throw new CommandError(`${warning} To go on, add --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await terminal.question(`${warning} Go on? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new CommandError('Nothing was sent');
}
