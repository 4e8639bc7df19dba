import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from './errors.ts';
import { type Entry, Ledger } from './ledger.ts';
import { toFileError } from './read-rows.ts';
import type { Format } from './row.ts';

/** What an import is of and to. It cannot be resumed with anything else. */
export interface ImportIdentity {
  readonly sha256: string;
  readonly format: Format;
  readonly baseUrl: string;
}

/** The first line of a journal. */
interface Header extends ImportIdentity {
  readonly journal: 1;
  /** No book had a higher id before the import began. */
  readonly above: number;
}

/**
 * The file that tells a later run what became of each row. One JSON object a line, only ever appended to.
 *
 * That rows are about to be sent is on the disk before the first of them is ({@link begin}). What became of them is
 * written soon after and need not be on the disk: a row without an outcome is looked up in the catalog. A line that a
 * crash has damaged therefore tells of nothing that was sent, and neither do those after it.
 */
export class Journal {
  readonly ledger: Ledger;
  readonly #path: string;
  readonly #file: FileHandle;
  #unwritten = '';
  #writing: Promise<void> | undefined;
  #failure: unknown;

  private constructor(path: string, file: FileHandle, ledger: Ledger) {
    this.#path = path;
    this.#file = file;
    this.ledger = ledger;
  }

  /**
   * Opens a journal that an earlier run has left.
   *
   * @param path - the journal
   * @param identity - what is to be imported
   * @returns the journal, or `undefined` when there is none
   * @throws {CommandError} when it is of another import, or no journal at all
   */
  static async resume(path: string, identity: ImportIdentity): Promise<Journal | undefined> {
    let file: FileHandle;
    try {
      file = await open(path, 'r+');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw toFileError(path, error);
    }
    try {
      const { ledger, length } = await replay(path, identity);
      if (ledger === undefined) {
        await file.close();
        return undefined;
      }
      await file.truncate(length);
      await file.close();
      return new Journal(path, await open(path, 'a'), ledger);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * Starts a journal.
   *
   * @param path - where; what is there is overwritten
   * @param identity - what is to be imported
   * @param above - no book has a higher id
   */
  static async create(path: string, identity: ImportIdentity, above: number): Promise<Journal> {
    try {
      const file = await open(path, 'w');
      const header: Header = { journal: 1, ...identity, above };
      await file.write(`${JSON.stringify(header)}\n`);
      await file.sync();
      await syncFolder(dirname(path));
      return new Journal(path, file, new Ledger(above));
    } catch (error) {
      throw toFileError(path, error);
    }
  }

  /**
   * Makes known that rows are about to be sent.
   *
   * @param lines - their lines
   * @returns the id that their books' will be higher than, once the disk has the entry
   */
  async begin(lines: readonly number[]): Promise<number> {
    const above = this.ledger.highestId;
    this.#append({ sending: lines, above });
    await this.#flush();
    await this.#file.datasync();
    return above;
  }

  /** Notes what became of a row, or that the file has been worked through. */
  note(entry: Exclude<Entry, { sending: unknown }>): void {
    this.#append(entry);
    // A failure is kept for the next flush.
    this.#flush().catch(() => {});
  }

  /** Writes what is left and closes the file. */
  async close(): Promise<void> {
    try {
      await this.#flush();
      await this.#file.datasync();
    } finally {
      await this.#file.close();
    }
  }

  #append(entry: Entry): void {
    this.ledger.add(entry);
    this.#unwritten += `${JSON.stringify(entry)}\n`;
  }

  /** One write at a time, of all that has come together since the last. */
  async #flush(): Promise<void> {
    while (this.#writing !== undefined || this.#unwritten !== '') {
      this.#writing ??= this.#write();
      await this.#writing;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #write(): Promise<void> {
    const text = this.#unwritten;
    this.#unwritten = '';
    try {
      await this.#file.appendFile(text);
    } catch (error) {
      this.#failure ??= toFileError(this.#path, error);
    } finally {
      this.#writing = undefined;
    }
  }
}

/** Adds up a journal's whole lines. Without so much as a whole header it is of no import: nothing was sent yet. */
async function replay(
  path: string,
  identity: ImportIdentity,
): Promise<{ ledger: Ledger | undefined; length: number }> {
  let ledger: Ledger | undefined;
  let length = 0;
  for await (const line of readWholeLines(path)) {
    const entry = parseLine(line);
    if (entry === undefined) {
      if (ledger === undefined) throw new CommandError(`${path} is not a journal of this command`);
      break;
    }
    if (ledger === undefined) ledger = new Ledger(checkHeader(path, entry as Header, identity));
    else ledger.add(entry as Entry);
    length += Buffer.byteLength(line) + 1;
  }
  return { ledger, length };
}

function checkHeader(path: string, header: Header, identity: ImportIdentity): number {
  if (header.journal !== 1) throw new CommandError(`${path} is not a journal of this command`);
  const remedy = 'remove it to start anew, or name another with --journal';
  if (header.sha256 !== identity.sha256 || header.format !== identity.format) {
    throw new CommandError(
      `${path} is the journal of another file, or of this one before it was changed; ${remedy}`,
    );
  }
  if (header.baseUrl !== identity.baseUrl) {
    throw new CommandError(`${path} is the journal of an import to ${header.baseUrl}; ${remedy}`);
  }
  return header.above;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Yields the lines that end with a newline. */
async function* readWholeLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const text of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Without it a new file may be gone after a power cut, although its content was written through. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
