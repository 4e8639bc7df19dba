import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CommandError } from './errors.ts';
import { formatCount } from './report.ts';

/** More than any book needs: 400 KB, for which JSON may take six times as many characters. */
export const maxRowLength = 4 * 1024 * 1024;

/**
 * Reads a file as text, in chunks, without its byte order mark.
 *
 * @param encoding - a label of the WHATWG Encoding Standard, such as `utf-8` or `windows-1252`
 * @throws {CommandError} when the file has another encoding or is damaged
 */
export async function* readText(path: string, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let isStart = true;
  try {
    for await (const bytes of createReadStream(path)) {
      if (isStart) refuseOtherEncoding(path, bytes, encoding);
      isStart = false;
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new CommandError(
      encoding === 'utf-8' ? await describeInvalidUtf8(path) : `${path} ${hasOtherBytes(encoding)}`,
    );
  }
}

/** @returns the start of a file, with the first row that is not blank, if that is not longer than any book */
export async function readStart(path: string, encoding: string): Promise<string> {
  let start = '';
  for await (const text of readText(path, encoding)) {
    start = (start + text).replace(/^[\r\n]+/, '');
    if (start.length > maxRowLength) break;
  }
  if (start.trim() === '') throw new CommandError(`${path} is empty`);
  return start;
}

/** How files of other kinds begin, after a byte order mark and blank lines. BibTeX may have comments there. */
const otherKinds = [
  { kind: 'a workbook or another ZIP file', start: /^(?:PK\p{Cc}{2}|\xd0\xcf\p{Cc}\xe0)/u },
  { kind: 'MARC', start: /^\d{5}[acdnp][a-z]/ },
  { kind: 'XML or HTML', start: /^</ },
  { kind: 'BibTeX or RIS', start: /^(?:%.*\s+)*(?:@\w+\s*\{|TY {2}- )/ },
];

/** In UTF-16, each character of ASCII has a zero byte. */
function refuseOtherEncoding(path: string, bytes: Buffer, encoding: string): void {
  const text = bytes.toString('latin1', 0, 100).replace(/^(?:\xef\xbb\xbf)?\s*/, '');
  const other = otherKinds.find(({ start }) => start.test(text));
  if (other !== undefined) throw new CommandError(`${path} is ${other.kind}: save it as CSV in UTF-8`);
  const [first, second] = bytes;
  if (first === 0x1f && second === 0x8b) throw new CommandError(`${path} is compressed with gzip: unpack it first`);
  const isLittle = second === 0 || (first === 0xff && second === 0xfe);
  const isBig = first === 0 || (first === 0xfe && second === 0xff);
  if (encoding.startsWith('utf-16') || isLittle === isBig) return;
  throw new CommandError(`${path} is UTF-16: add --encoding utf-16${isLittle ? 'le' : 'be'}`);
}

const hasOtherBytes = (encoding: string) =>
  `has bytes that are not ${encoding}: name the encoding of the file, and look at the first books: --dry-run ` +
  '--encoding windows-1252 (or windows-1250, windows-1251, gbk, shift_jis, euc-kr)';

/** Beyond ASCII, a line in another encoding is hardly ever valid UTF-8. So a file with mostly valid lines is damaged. */
async function describeInvalidUtf8(path: string): Promise<string> {
  let [line, first, invalid, valid] = [0, 0, 0, 0];
  // In Latin-1, each byte is one character.
  for await (const text of createInterface({ input: createReadStream(path, 'latin1'), crlfDelay: Infinity })) {
    line += 1;
    if (!/[^\0-\x7f]/.test(text)) continue;
    if (isUtf8(Buffer.from(text, 'latin1'))) valid += 1;
    else {
      invalid += 1;
      first ||= line;
    }
  }
  if (valid < invalid) return `line ${first} ${hasOtherBytes('utf-8')}`;
  const lines = invalid === 1 ? `line ${first} is` : `line ${first} and ${formatCount(invalid - 1, 'other')} are`;
  return `${lines} damaged UTF-8: mend it, or drop the damaged bytes: iconv -c -f utf-8 -t utf-8 FILE > MENDED`;
}
