import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { type BookFile, commonSeparators, type Row } from './book-file.ts';
import { reasonColumn } from './columns.ts';
import { quoteCell } from './csv.ts';
import { formatCount } from './progress.ts';

const maxSummarised = 10;

/**
 * The rejected rows, in a file of the same format with the reasons, to be corrected and imported. The first one creates the
 * file; a file of an earlier run, which may be corrected, is kept as `PATH~`.
 */
export class RejectedRows {
  count = 0;
  readonly #path: string;
  readonly #source: BookFile;
  #summary = '';

  constructor(path: string, source: BookFile) {
    this.#path = path;
    this.#source = source;
  }

  add({ line, raw }: Row, reason: string): void {
    if (this.count === 0) this.#create();
    this.count += 1;
    if (this.count <= maxSummarised) this.#summary += `\n  line ${line}: ${reason}`;
    appendFileSync(this.#path, `${addReason(this.#source, raw, reason)}\n`);
  }

  report(): void {
    const more = this.count - maxSummarised;
    if (more > 0) this.#summary += `\n  and ${formatCount(more)} more`;
    const rows = formatCount(this.count, 'row');
    if (this.count > 0) console.error(`${rows} rejected, see ${this.#path}:${this.#summary}`);
  }

  #create(): void {
    const { format, separator, header } = this.#source;
    if (existsSync(this.#path)) renameSync(this.#path, `${this.#path}~`);
    // The file is UTF-8, whatever its rows contain.
    const isCommon = commonSeparators.includes(separator) || format === 'ndjson';
    const start = isCommon ? '\ufeff' : `\ufeffsep=${separator}\n`;
    const names = `${reasonColumn}${separator}${dropReason(this.#source, header)}\n`;
    writeFileSync(this.#path, format === 'csv' ? start + names : start);
  }
}

function addReason(source: BookFile, raw: string, reason: string): string {
  const row = dropReason(source, raw);
  if (source.format === 'csv') return quoteCell(reason) + source.separator + row;
  // A row that is not an object has no members to keep.
  if (!row.startsWith('{')) return row.startsWith('["') ? row : JSON.stringify([reason, row]);
  const comma = /^\{\s*\}/.test(row) ? '' : ',';
  return `{${JSON.stringify(reasonColumn)}:${JSON.stringify(reason)}${comma}${row.slice(1)}`;
}

/** A row without its line end and the reason that it was rejected for before. */
function dropReason({ format, separator, names }: BookFile, raw: string): string {
  const row = raw.replace(/[\r\n]+$/, '');
  if (format === 'ndjson') return row.trim().replace(/^\{\s*"rejected_because"\s*:\s*"(?:[^"\\]|\\.)*"\s*,?/, '{');
  if (names[0] !== reasonColumn) return row;
  const quoted = /^"(?:[^"]|"")*"/.exec(row)?.[0].length ?? 0;
  return row.slice(row.indexOf(separator, quoted) + 1);
}
