import { createWriteStream, existsSync, renameSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
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
  #file: WriteStream | undefined;

  constructor(path: string, source: BookFile) {
    this.#path = path;
    this.#source = source;
  }

  async add({ line, raw }: Row, reason: string): Promise<void> {
    this.count += 1;
    if (this.count <= maxSummarised) this.#summary += `\n  line ${line}: ${reason}`;
    this.#file ??= this.#create();
    const file = this.#file;
    if (file.write(`${addReason(this.#source, raw, reason)}\n`) || file.errored !== null) return;
    // So that memory does not grow with the rejected rows.
    await new Promise<void>((resolve) => file.once('drain', resolve).once('close', resolve));
  }

  /** Closes the file, and reports its content. */
  async end(): Promise<void> {
    if (this.#file === undefined) return;
    await finished(this.#file.end());
    const more = this.count - maxSummarised;
    if (more > 0) this.#summary += `\n  and ${formatCount(more)} more`;
    console.error(`${formatCount(this.count, 'row')} rejected, see ${this.#path}:${this.#summary}`);
  }

  #create(): WriteStream {
    const { format, separator, header } = this.#source;
    if (existsSync(this.#path)) renameSync(this.#path, `${this.#path}~`);
    // end() reports its errors.
    const file = createWriteStream(this.#path).on('error', () => {});
    // The file is UTF-8, whatever its rows contain.
    file.write(
      commonSeparators.includes(separator) || format === 'ndjson' ? '\ufeff' : `\ufeffsep=${separator}\n`,
    );
    if (format === 'csv') file.write(`${reasonColumn}${separator}${dropReason(this.#source, header)}\n`);
    return file;
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
  if (format === 'ndjson')
    return row.trim().replace(/^\{\s*"rejected_because"\s*:\s*"(?:[^"\\]|\\.)*"\s*,?/, '{');
  if (names[0] !== reasonColumn) return row;
  const quoted = /^"(?:[^"]|"")*"/.exec(row)?.[0].length ?? 0;
  return row.slice(row.indexOf(separator, quoted) + 1);
}
