import { createHash } from 'node:crypto';
import { readRows } from './read-rows.ts';
import type { RejectionReport } from './rejection-report.ts';
import type { Format } from './row.ts';

/** What a file holds. */
export interface CheckedFile {
  /** Rows that can become books. */
  readonly valid: number;
  readonly sha256: string;
}

/**
 * Reads a whole file without sending anything, so that one that is broken halfway is noticed before the first book is
 * created.
 *
 * @param path - the file
 * @param format - how to read it
 * @param report - is told of the rows that cannot become books
 * @throws {CommandError} when the file cannot be read, or not in this format
 */
export async function checkFile(path: string, format: Format, report: RejectionReport): Promise<CheckedFile> {
  const hash = createHash('sha256');
  let valid = 0;
  for await (const row of readRows(path, format, (bytes) => hash.update(bytes))) {
    if ('book' in row) {
      valid += 1;
      continue;
    }
    report.add(row);
    await report.drain();
  }
  return { valid, sha256: hash.digest('hex') };
}
