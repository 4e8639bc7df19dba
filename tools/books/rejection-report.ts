import { createWriteStream, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import { toFileError } from './read-rows.ts';
import type { RejectedRow } from './row.ts';

/** Enough to recognise the row by. */
const maxRecordLength = 300;

/** Rejected rows that the summary names itself. */
const maxSummarised = 10;

/** The rows that did not become books: in a CSV file of line, reason and record, made when there is the first. */
export class RejectionReport {
  readonly path: string;
  readonly #summary: string[] = [];
  #count = 0;
  #file: WriteStream | undefined;

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Starts a report; that of an earlier run is removed.
   *
   * @param path - where it goes
   */
  static async start(path: string): Promise<RejectionReport> {
    await rm(path, { force: true });
    return new RejectionReport(path);
  }

  /** How many rows were rejected. */
  get count(): number {
    return this.#count;
  }

  /** The first rejected rows, one a line. */
  get summary(): string {
    const more = this.#count - this.#summary.length;
    return [...this.#summary, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
  }

  /** @param row - a row that does not become a book */
  add({ line, reason, record }: RejectedRow): void {
    this.#count += 1;
    if (this.#summary.length < maxSummarised) this.#summary.push(`  line ${line}: ${reason}`);
    this.#file ??= createReport(this.path);
    this.#file.write(stringify([[line, reason, shorten(record)]]));
  }

  /** Waits until the file has taken what was written: a file full of wrong rows must not pile up in memory. */
  async drain(): Promise<void> {
    if (this.#file?.writableNeedDrain !== true || this.#file.errored !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#file.once('drain', resolve).once('error', () => resolve());
    await promise;
  }

  /** Closes the file. */
  async end(): Promise<void> {
    if (this.#file === undefined) return;
    try {
      await finished(this.#file.end());
    } catch (error) {
      throw toFileError(this.path, error);
    }
  }
}

function createReport(path: string): WriteStream {
  const file = createWriteStream(path);
  // It is told by end().
  file.on('error', () => {});
  file.write('line,reason,record\n');
  return file;
}

function shorten(record: string): string {
  return record.length <= maxRecordLength ? record : `${record.slice(0, maxRecordLength)}…`;
}
