import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files that operating systems and people put into an empty folder. */
const isIgnorable = (file: string) => file.startsWith('.') || file === 'lost+found';

/** What LevelDB leaves of a start that was interrupted. */
const isEngineFile = (file: string) => /^(LOCK|LOG(\.old)?)$/.test(file);

/**
 * Creates the folder of the embedded engine's data, or takes the one that is there. Only its owner may enter it, so that
 * the permissions of the files in it make no difference.
 *
 * @throws when it has other files, and none of the engine, or when it belongs to another user
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  const files = await readdir(folder);
  // Without the file CURRENT, which leads to all others, the engine would delete the books of the folder.
  const foreign = files.includes('CURRENT') ? [] : files.filter((file) => !isIgnorable(file) && !isEngineFile(file));
  if (foreign.length > 0) throw new Error(`Other files: ${foreign.slice(0, 3).join(', ')}`);
  await chmod(folder, 0o700);
}

/** Creates a folder and those above it. Node's own `recursive` never ends in /proc. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      await makeFolder(dirname(folder));
      await mkdir(folder);
    } else if (code !== 'EEXIST' || !(await stat(folder)).isDirectory()) {
      throw error;
    }
  }
}

/**
 * Finds out whether the engine, which has just opened a folder, could not read a part of its write-ahead log. LevelDB
 * then replaces that log, so that the next start finds nothing. A write that a crash has cut off is no damage: it was not
 * acknowledged.
 *
 * @returns a text for people, or `undefined`
 */
export async function findLostWrites(folder: string): Promise<string | undefined> {
  const messages = await readFile(join(folder, 'LOG'), 'utf8').catch(() => '');
  const [, detail] = /\(ignoring error\) (.*)/.exec(messages) ?? [];
  if (detail === undefined) return undefined;
  const problem = `The data folder ${folder} was damaged, and acknowledged writes are lost`;
  const cause = detail.replace(`${folder}/`, '');
  return `${problem} (${cause}). Restore it from a copy, or go on with the books that are left.`;
}

const elsewhere = 'or name another folder in DB_PATH.';

/** Causes and advice, by the text of the error. */
const diagnoses: readonly [pattern: RegExp, cause: string, advice: string][] = [
  [/LEVEL_LOCKED/, 'another process has it open, most likely this service', `Stop that, ${elsewhere}`],
  [/Other files/, 'it has files, but no catalog', 'Name an empty folder in DB_PATH, or one that does not exist.'],
  [/No space left|File too large/, 'there is no space left on its disk', `Make room, ${elsewhere}`],
  [/EPERM.*, chmod /, 'it belongs to another user', 'Name a folder of your own in DB_PATH.'],
  [
    /EROFS|EACCES|EPERM|Permission denied/,
    'this user may not read and write it',
    `Make it readable and writable, ${elsewhere}`,
  ],
  [
    /ELOOP|ENOENT.*, stat /,
    'it, or a part of its path, is a symbolic link to nothing',
    `Remove that link, ${elsewhere}`,
  ],
  [/ENAMETOOLONG/, 'its name is too long', 'Name another folder in DB_PATH.'],
  [/ENOENT/, 'no folder can be created there', 'Name another folder in DB_PATH.'],
  [/ENOTDIR|EEXIST/, 'it, or a part of its path, is a file', `Remove that file, ${elsewhere}`],
  [/The data is gone/, 'it was deleted or moved while the service ran', 'Put it back, or go on with an empty catalog.'],
  [
    /LEVEL_CORRUPTION|Corruption|No such file|\.ldb: Invalid argument/,
    'its files are damaged',
    'Restore it from a copy, or move it away: the service then starts with an empty catalog.',
  ],
];

/** Explains an error of the file system or the engine in one paragraph, and says what to do. */
export function diagnoseDataFolder(folder: string, error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const diagnosis = diagnoses.find(([pattern]) => pattern.test(`${code} ${message}`));
  if (diagnosis === undefined)
    return `The database engine failed: ${message}. Keep a copy of the data folder ${folder}.`;
  const [, cause, advice] = diagnosis;
  return `The data folder ${folder} cannot be used: ${cause} (${message}). ${advice}`;
}
