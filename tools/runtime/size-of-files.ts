import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Adds up the sizes of files, for example those with the code of a function.
 *
 * @param folder - their folder
 * @param name - the pattern of their names
 * @returns bytes
 */
export async function sizeOfFiles(folder: string, name: RegExp): Promise<number> {
  const files = (await readdir(folder)).filter((file) => name.test(file));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
