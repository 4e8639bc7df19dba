import { setTimeout as wait } from 'node:timers/promises';
import type { CatalogClient } from './catalog-client.ts';
import type { Journal } from './journal.ts';
import { BookMatcher, type UncertainRow } from './match-books.ts';
import { type Endurance, Patience } from './patience.ts';

/** The most that one page of GET /books holds (README.md). */
const pageLimit = 1000;

/** How rows are sent. */
export interface SenderOptions {
  readonly client: CatalogClient;
  readonly journal: Journal;
  readonly endurance: Endurance;
  /** Requests in flight at once. */
  readonly parallel: number;
  /** How long the service may go on with a request whose answer is lost. */
  readonly settleMs: number;
  /** Is told of each row that the service does not take. */
  readonly onRefused: (row: UncertainRow, reason: string) => void;
}

/**
 * Sends rows, several at a time, each until it is known what became of it.
 *
 * POST /book can be carried out although no answer comes, and sending it again would then create the book twice. So
 * when a row's fate is uncertain, everything else in flight is waited for, the catalog is asked for a book of the same
 * fields that belongs to no other row, and only when there is none is the row sent again.
 */
export class RowSender {
  readonly #options: SenderOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #uncertain: UncertainRow[] = [];
  #retryAfterMs = 0;
  /** Why the last row became uncertain. */
  #reason = '';
  #failure: { readonly error: unknown } | undefined;

  /** @param options - how to send */
  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * Sends a row, after it was made known to the journal. Returns as soon as the next may be sent.
   *
   * @param row - a row that was never sent
   * @throws the failure of this row or an earlier one
   */
  async send(row: UncertainRow): Promise<void> {
    await this.#makeRoom();
    this.#start(row);
  }

  /**
   * Finds out about rows that an earlier run may have sent, and sends those that it has not.
   *
   * @param rows - pending rows of the journal
   */
  async settle(rows: readonly UncertainRow[]): Promise<void> {
    if (rows.length === 0) return;
    this.#reason = `${rows.length} rows may have been sent before the interruption`;
    this.#uncertain.push(...rows);
    await this.#recover({ pauseFirst: false });
  }

  /**
   * Waits for answers until a condition holds.
   *
   * @param condition - holds at the latest when it is known what became of every row
   */
  async waitFor(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#inFlight.size > 0) await Promise.race(this.#inFlight);
      else await this.finish();
    }
  }

  /** Waits until it is known what became of every row. */
  async finish(): Promise<void> {
    await this.#quiet();
    await this.#recover();
  }

  /** Waits for the answers that are still to come, whatever they are. */
  async abandon(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  async #makeRoom(): Promise<void> {
    while (this.#inFlight.size >= this.#options.parallel) await Promise.race(this.#inFlight);
    await this.#recover();
    this.#options.endurance.stop.throwIfAborted();
  }

  #start(row: UncertainRow): void {
    const sending = this.#attempt(row).finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  /** Never rejects: a failure ends the import, but only after all others in flight have had their answers. */
  async #attempt(row: UncertainRow): Promise<void> {
    const { client, journal, onRefused } = this.#options;
    try {
      const creation = await client.createBook(row.book);
      if (creation.kind === 'created') journal.note({ line: row.line, id: creation.id });
      else if (creation.kind === 'refused') {
        journal.note({ line: row.line, refused: creation.reason });
        onRefused(row, creation.reason);
      } else {
        this.#uncertain.push(row);
        this.#reason = creation.reason;
        this.#retryAfterMs = Math.max(this.#retryAfterMs, creation.retryAfterMs);
      }
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  async #quiet(): Promise<void> {
    await Promise.all(this.#inFlight);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #recover({ pauseFirst } = { pauseFirst: true }): Promise<void> {
    if (this.#failure !== undefined) await this.#quiet();
    if (this.#uncertain.length === 0) return;
    const { endurance } = this.#options;
    const patience = new Patience(endurance);
    for (let pause = pauseFirst; this.#uncertain.length > 0; pause = true) {
      await this.#quiet();
      const settledAt = performance.now() + this.#options.settleMs;
      if (pause) await patience.pause(this.#reason, this.#retryAfterMs);
      const before = this.#uncertain.length;
      const missing = await this.#findMissing(settledAt);
      this.#uncertain = [];
      this.#retryAfterMs = 0;
      await this.#resend(missing);
      if (this.#uncertain.length < before) patience.reset();
    }
  }

  async #resend(rows: readonly UncertainRow[]): Promise<void> {
    for (const row of rows) {
      while (this.#inFlight.size >= this.#options.parallel) await Promise.race(this.#inFlight);
      this.#options.endurance.stop.throwIfAborted();
      // When one fails again, the others wait for the next round with it.
      if (this.#uncertain.length > 0) this.#uncertain.push(row);
      else this.#start(row);
    }
    await this.#quiet();
  }

  /** Looks the uncertain rows up, notes those that are found, and gives those that will not be found any more. */
  async #findMissing(settledAt: number): Promise<UncertainRow[]> {
    const missing = await this.#lookUp(this.#uncertain);
    const left = settledAt - performance.now();
    if (missing.length === 0 || left <= 0) return missing;
    const { endurance } = this.#options;
    endurance.onTrouble(
      `${this.#reason}; waiting ${Math.ceil(left / 1000)} s in case the service still works on them`,
    );
    await wait(left, undefined, { signal: endurance.stop });
    return this.#lookUp(missing);
  }

  async #lookUp(rows: readonly UncertainRow[]): Promise<UncertainRow[]> {
    const { client, journal } = this.#options;
    const matcher = new BookMatcher(rows);
    let after = Math.min(...rows.map(({ above }) => above));
    for (let more = true; more; ) {
      const page = await client.readPage(after, pageLimit);
      for (const book of page.books) if (!journal.ledger.isClaimed(book.id)) matcher.offer(book);
      more = page.more;
      after = page.books.at(-1)?.id ?? after;
    }
    const found = matcher.match();
    for (const [line, id] of found) journal.note({ line, id });
    return rows.filter(({ line }) => !found.has(line));
  }
}
