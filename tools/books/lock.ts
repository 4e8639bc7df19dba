import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { CommandError } from './errors.ts';
import { toFileError } from './read-rows.ts';

/** Who holds a lock. */
interface Holder {
  readonly pid: number;
  readonly host: string;
}

/**
 * Makes sure that only one process works with a journal: two would create every book twice. A process that was killed
 * leaves its lock behind; it is taken over.
 *
 * @param path - the lock file
 * @returns the function that gives the lock back
 * @throws {CommandError} when another process has it
 */
export async function acquireLock(path: string): Promise<() => Promise<void>> {
  const holder: Holder = { pid: process.pid, host: hostname() };
  for (;;) {
    try {
      await writeFile(path, JSON.stringify(holder), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw toFileError(path, error);
    }
    const other = await readHolder(path);
    if (other !== undefined && (other.host !== holder.host || isAlive(other.pid))) {
      throw new CommandError(
        `process ${other.pid} on ${other.host} is importing this file; if it is not, remove ${path}`,
      );
    }
    await rm(path, { force: true });
  }
}

/** A lock without a readable holder was cut short as it was written, by a crash of the machine. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
