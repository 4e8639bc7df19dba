import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const probeBytes = 64 * 1024; // the engine needs room for its log and its manifest to start

/** Creates the folder of the embedded engine's data. Throws when it cannot be written or its file CURRENT is damaged. */
export async function prepareDataFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  const probe = join(folder, `write-test-${process.pid}`);
  try {
    await writeFile(probe, Buffer.alloc(probeBytes));
  } finally {
    await rm(probe, { force: true });
  }
  const files = await readdir(folder);
  if (!files.some((file) => file.startsWith('MANIFEST-'))) return;
  // It names the manifest, the list of the files with data. Without it, the engine would delete the books of the folder.
  const current = await readFile(join(folder, 'CURRENT'), 'utf8').catch(() => '');
  if (!/^MANIFEST-\d+\n$/.test(current)) throw new Error('Corruption: the file CURRENT names no manifest');
}

/** The recursive mode of `mkdir` never ends where a folder cannot be created, as in /proc. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder);
}

const elsewhere = 'or name another folder in DB_PATH.';

/** Causes and advice, by the text of the error. */
const diagnoses: readonly [pattern: RegExp, cause: string, advice: string][] = [
  [/LEVEL_LOCKED/, 'another process has it open, most likely this service', `Stop that, ${elsewhere}`],
  [
    /ENOSPC|EDQUOT|EFBIG|No space left|quota exceeded|File too large/,
    'there is no space left on its disk',
    `Make room, ${elsewhere}`,
  ],
  [
    /EROFS|EACCES|EPERM|Read-only file system|Permission denied|Operation not permitted/,
    'this user may not read and write it',
    `Make it readable and writable, ${elsewhere}`,
  ],
  [/ENOTDIR/, 'it, or a part of its path, is a file', `Remove that file, ${elsewhere}`],
  [/ENOENT.*, mkdir/, 'it cannot be created there', 'Name another folder in DB_PATH.'],
  [
    /The data is gone/,
    'it was deleted or moved while the service ran',
    'Put it back, or start the service again: it then has an empty catalog.',
  ],
  [
    /LEVEL_CORRUPTION|Corruption|No such file|\.ldb: Invalid argument/,
    'its files are damaged',
    'Restore it from a copy, or move it away: the service then starts with an empty catalog.',
  ],
];

/** Explains in one paragraph an error of the file system or the engine, and says what to do. */
export function diagnoseDataFolder(folder: string, error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const [, cause = 'the database engine failed', advice = `Mend that, ${elsewhere}`] =
    diagnoses.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  return `The data folder ${folder} cannot be used: ${cause} (${message}). ${advice}`;
}
