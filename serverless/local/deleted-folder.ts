import { existsSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';

/** The engine keeps it open, and never replaces it: as long as the name leads to the same file, the data is there. */
const lockFile = 'LOCK';

/** @throws when there is no data; the engine would begin with an empty catalog */
export function requireData(folder: string): void {
  if (!existsSync(join(folder, 'CURRENT'))) throw new Error(deleted);
}

/**
 * Ends the thread in place of a response once the folder is deleted, moved or replaced: the engine itself goes on with
 * its open files, and would acknowledge what nobody finds again.
 */
export function refuseWithoutData(server: Server, folder: string): void {
  const readInode = () => statSync(join(folder, lockFile), { throwIfNoEntry: false })?.ino;
  const inode = readInode();
  server.prependListener('request', (_request, response) => {
    const end = response.end.bind(response) as () => typeof response;
    response.end = (...args: []) => {
      if (readInode() !== inode) throw new Error(deleted);
      return end(...args);
    };
  });
}

const deleted = 'The data is gone';
