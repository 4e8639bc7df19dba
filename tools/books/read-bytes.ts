import { createReadStream } from 'node:fs';

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads a file in pieces, without the byte order mark that some programs begin a UTF-8 file with.
 *
 * @param path - the file
 * @param onBytes - is handed every piece as it is in the file
 * @throws the error of the file system when it cannot be read
 */
export async function* readBytes(path: string, onBytes?: (bytes: Buffer) => void): AsyncGenerator<Buffer> {
  let first = true;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    onBytes?.(bytes);
    // The stream's first piece holds more than three bytes unless the file is shorter.
    const marked = first && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    first = false;
    yield marked ? bytes.subarray(byteOrderMark.length) : bytes;
  }
}
