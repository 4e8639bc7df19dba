import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Adds up the sizes of the files of a folder whose names match, in bytes. */
export async function sizeOfFiles(folder: string, name: RegExp): Promise<number> {
  const files = (await readdir(folder)).filter((file) => name.test(file));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
