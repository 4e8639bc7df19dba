import { parseJsonFields, RowError } from './parse-fields.ts';
import type { Row } from './row.ts';

/** The service takes no body that is longer (README.md, "Errors"), and no line has to be held in memory beyond it. */
const maxLineBytes = 10 * 1024 * 1024;

/** Begins what is shown of a line that is too long. */
const shownBytes = 200;

const newline = 0x0a;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads newline-delimited JSON, one object a line. Blank lines are passed over.
 *
 * Lines end with LF or CR LF and nothing else: U+2028, at which `node:readline` splits too, may stand in a JSON string.
 *
 * @param pieces - the bytes of the file
 */
export async function* readNdjson(pieces: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let line = 0;
  for await (const bytes of splitLines(pieces)) {
    line += 1;
    const row = readLine(line, bytes);
    if (row !== undefined) yield row;
  }
}

function readLine(line: number, bytes: Buffer): Row | undefined {
  if (bytes.length > maxLineBytes) {
    return { line, reason: 'is longer than 10 MB', record: bytes.toString('utf8', 0, shownBytes) };
  }
  const record = bytes.toString().replace(/\r$/, '');
  if (record.trim() === '') return undefined;
  try {
    strictUtf8.decode(bytes);
    return { line, book: parseJsonFields(record) };
  } catch (error) {
    const reason = error instanceof RowError ? error.message : 'is not UTF-8';
    return { line, reason, record };
  }
}

/** Yields each line without its LF; of one that is too long, just more than the limit. */
async function* splitLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  const hold = (bytes: Buffer) => {
    if (heldBytes <= maxLineBytes) held.push(bytes);
    heldBytes += bytes.length;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      hold(piece.subarray(start, end));
      yield Buffer.concat(held);
      held = [];
      heldBytes = 0;
      start = end + 1;
    }
    if (start < piece.length) hold(piece.subarray(start));
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}
