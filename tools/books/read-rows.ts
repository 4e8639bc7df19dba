import { CommandError } from './errors.ts';
import { readBytes } from './read-bytes.ts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import type { Format, Row } from './row.ts';

/**
 * Reads the rows of a file, each as soon as it is asked for: memory does not grow with the file.
 *
 * @param path - the file
 * @param format - how to read it
 * @param onBytes - is handed every piece of the file as it is read
 * @throws {CommandError} when the file cannot be read, or not in this format
 */
export async function* readRows(
  path: string,
  format: Format,
  onBytes?: (bytes: Buffer) => void,
): AsyncGenerator<Row> {
  const bytes = readBytes(path, onBytes);
  try {
    yield* format === 'csv' ? readCsv(bytes) : readNdjson(bytes);
  } catch (error) {
    if (error instanceof CommandError) {
      throw new CommandError(`${path}: ${error.message}`, { cause: error });
    }
    throw toFileError(path, error);
  }
}

/**
 * Says why a file cannot be used, in one line.
 *
 * @param path - the file
 * @param error - what the file system said, or any other error, which is handed back
 */
export function toFileError(path: string, error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return new CommandError(`there is no ${path}`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new CommandError(`${path} must not be read or written by this user`, { cause: error });
    case 'EISDIR':
      return new CommandError(`${path} is a folder`, { cause: error });
    case 'ENOSPC':
      return new CommandError(`no space is left for ${path}`, { cause: error });
    default:
      return error;
  }
}
