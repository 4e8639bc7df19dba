import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { zipSync } from 'fflate';
import { bundle } from './bundle.ts';
import { addCodeCache } from './code-cache.ts';

/** The same for each file in each zip, on each machine: equal code makes equal zips. Lambda's user may read them. */
const zipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 << 16 } as const;

/**
 * Makes the zip of a function.
 *
 * @param serviceDir - the folder of the service
 * @param module - path of the function's module below it, without the extension
 * @param withCodeCache - whether a code cache goes in
 */
export async function packageModule(
  serviceDir: string,
  module: string,
  withCodeCache: boolean,
): Promise<Buffer> {
  const buildFolder = await mkdtemp(join(tmpdir(), 'book-catalog-build-'));
  try {
    const folder = join(buildFolder, module, '..');
    const name = basename(module);
    await bundle(serviceDir, `${module}.ts`, join(folder, `${name}.mjs`));
    if (withCodeCache) await addCodeCache(folder, name);
    const files = await Promise.all(
      (await readdir(folder)).sort().map(async (file) => {
        return [join(module, '..', file), await readFile(join(folder, file))] as const;
      }),
    );
    return Buffer.from(zipSync(Object.fromEntries(files), zipOptions));
  } finally {
    await rm(buildFolder, { recursive: true, force: true });
  }
}
