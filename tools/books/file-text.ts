import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CommandError } from './errors.ts';

/**
 * Reads a file as text, in chunks, without its byte order mark.
 *
 * @param encoding - a label of the WHATWG Encoding Standard, such as `utf-8` or `windows-1252`
 * @throws {CommandError} with the line of the first bytes that are not in the encoding
 */
export async function* readText(path: string, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const bytes of createReadStream(path)) yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    const line = encoding === 'utf-8' ? await findLineBeyondUtf8(path) : undefined;
    const where = line === undefined ? path : `line ${line}`;
    const advice = 'name the encoding of the file, as in --encoding windows-1252 or --encoding utf-16le';
    throw new CommandError(`${where} has bytes that are not ${encoding}: ${advice}`);
  }
}

async function findLineBeyondUtf8(path: string): Promise<number | undefined> {
  let line = 0;
  // In Latin-1, each byte is one character.
  for await (const text of createInterface({ input: createReadStream(path, 'latin1'), crlfDelay: Infinity })) {
    line += 1;
    if (!isUtf8(Buffer.from(text, 'latin1'))) return line;
  }
  return undefined;
}
