import { chmod, mkdir, readdir } from 'node:fs/promises';

/** Files that people and operating systems put into an empty folder, and those of a start that was interrupted. */
const isIgnorable = (file: string) => /^(\..*|lost\+found|LOCK|LOG(\.old)?)$/.test(file);

/**
 * Creates the folder of the embedded engine's data, or takes the one that is there. Only its owner may enter it, so that
 * the permissions of the files in it make no difference.
 *
 * @throws when it has other files, and none of the engine, or when it belongs to another user
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files = await readdir(folder);
  // Without the file CURRENT, which leads to all others, the engine would delete the books of the folder.
  const foreign = files.includes('CURRENT') ? [] : files.filter((file) => !isIgnorable(file));
  if (foreign.length > 0) throw new Error(`it has no catalog, but other files: ${foreign.slice(0, 3).join(', ')}`);
  await chmod(folder, 0o700);
}

/** Says in one sentence that a data folder cannot be used, why, and what to do. */
export function explainDataFolder(folder: string, { message }: Error): string {
  const advice =
    'stop what else uses it, such as this service in another terminal, check its rights and the free space, or name ' +
    'another folder in DB_PATH';
  return `The data folder ${folder} cannot be used (${message}): ${advice}.`;
}
