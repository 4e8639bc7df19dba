import { createReadStream } from 'node:fs';

const byteOrderMarks: Readonly<Record<string, readonly number[]>> = {
  'utf-8': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
};

/**
 * Detects the encoding of a file: by its byte order mark, else the user's option, else its bytes. UTF-16 begins with zeros
 * beside ASCII characters; a file whose bytes beyond ASCII are mostly not UTF-8 is Windows-1252, which includes Latin-1.
 * U+FFFD in the file does not count.
 */
export async function detectEncoding(path: string, chosen: string | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let [isStart, valid, invalid] = [true, 0, 0];
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    const isMarked = ([, mark]: [string, readonly number[]]) => mark.every((byte, index) => bytes[index] === byte);
    const marked = isStart && Object.entries(byteOrderMarks).find(isMarked);
    if (marked) return marked[0];
    if (chosen !== undefined) return chosen;
    if (isStart && bytes[1] === 0 && bytes[3] === 0) return 'utf-16le';
    if (isStart && bytes[0] === 0 && bytes[2] === 0) return 'utf-16be';
    isStart = false;
    const text = decoder.decode(bytes, { stream: true });
    valid += text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0;
    invalid += text.split('\ufffd').length - bytes.toString('latin1').split('\xef\xbf\xbd').length;
  }
  return invalid > 0 && invalid >= valid ? 'windows-1252' : 'utf-8';
}

/** Reads a file as text, in chunks, without its byte order mark. Bytes that are not in its encoding become U+FFFD. */
export async function* readText(path: string, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  const chunks = createReadStream(path) as AsyncIterable<Buffer>;
  for await (const bytes of chunks) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}
