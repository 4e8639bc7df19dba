/** An ASCII character, and how many cells a record should have; any number when undefined. */
type Dialect = { readonly separator: string; readonly width?: number };

/** The end of a record, and its cells or its error. */
export type CsvRecord = { readonly end: number; readonly cells?: readonly string[]; readonly problem?: string };

const lineEnd = /\r\n|\n|\r/g;

/**
 * Reads the record of CSV (RFC 4180) at a position. When that fails, it reads `\"` as a quote inside quotes, as MySQL
 * writes it. A misplaced quote invalidates its own record and no other.
 *
 * @param complete - whether to read as if the file ended with this text
 * @returns `undefined` when more of the file is needed
 */
export function scanRecord(text: string, start: number, dialect: Dialect, complete: boolean): CsvRecord | undefined {
  const plain = scan(text, start, dialect, '"');
  for (const record of [plain, scan(text, start, dialect, '\\')]) {
    const mayApply = record === plain || text.slice(start, record.end).includes('\\"');
    // LF may follow CR, and a quote another quote.
    if (!complete && mayApply && record.end >= text.length) return undefined;
    if (fits(record, dialect)) return record;
  }
  const firstEnd = findLineEnd(text, start);
  if (plain.problem === neverClosed) return { end: firstEnd, problem: neverClosed };
  const lastEnd = plain.cells ? plain.end : findLineEnd(text, plain.end);
  if (!complete && lastEnd >= text.length) return undefined;
  // When each further line is a record, the first has an unclosed quote; otherwise they may be lines of one text.
  let end = firstEnd;
  while (end < lastEnd) {
    const line = scan(text, end, dialect, '"');
    if (!fits(line, dialect) || line.end !== findLineEnd(text, end)) break;
    end = line.end;
  }
  if (firstEnd < lastEnd && end >= lastEnd) return { end: firstEnd, problem: neverClosed };
  return plain.cells ? plain : { end: lastEnd, problem: 'a quote is out of place' };
}

/** @returns where the next line begins, after LF, CR LF or CR; the length of the text when there is none */
export function findLineEnd(text: string, start: number): number {
  lineEnd.lastIndex = start;
  return lineEnd.test(text) ? lineEnd.lastIndex : text.length;
}

export function countLines(text: string): number {
  return text.match(lineEnd)?.length ?? 0;
}

export function quoteCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

const neverClosed = 'a quote is never closed';

function fits({ cells }: CsvRecord, { width }: Dialect): boolean {
  return cells !== undefined && (width === undefined || cells.length === width);
}

/** Without cells, `end` is the position of the error. */
function scan(text: string, start: number, { separator }: Dialect, quoteMark: '"' | '\\'): CsvRecord {
  const special = `${separator}"\r\n`;
  const cells: string[] = [];
  for (let position = start; ; position += 1) {
    if (text[position] === '"') {
      const close = findClosingQuote(text, position + 1, quoteMark);
      if (close < 0) return { end: text.length, problem: neverClosed };
      const cell = text.slice(position + 1, close).replaceAll('""', '"');
      cells.push(quoteMark === '"' ? cell : cell.replaceAll('\\"', '"'));
      position = close + 1;
    } else {
      const begin = position;
      while (position < text.length && !special.includes(text.charAt(position))) position += 1;
      cells.push(text.slice(begin, position));
    }
    if (text[position] === separator) continue;
    // The end of the text also ends a line.
    if (!'\r\n'.includes(text.charAt(position))) return { end: position };
    return { end: findLineEnd(text, position), cells };
  }
}

function findClosingQuote(text: string, from: number, quoteMark: '"' | '\\'): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote)) {
    if (quoteMark === '\\' && text[quote - 1] === '\\') quote += 1;
    else if (text[quote + 1] === '"') quote += 2;
    else return quote;
  }
  return -1;
}
