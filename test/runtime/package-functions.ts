import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with a sub-folder for each unpacked function, by its name in serverless.yml. */
    functionsFolder: string;
  }
}

const projectFolder = resolve(import.meta.dirname, '../..');
const serverless = join(projectFolder, 'node_modules/serverless/bin/serverless.js');

const functionNames = ['createToken', 'createBook', 'listBooks', 'getBook', 'updateBook', 'deleteBook'];

/** Packages the service as a deploy does, and unpacks the zips as Lambda does. */
export default async function packageFunctions(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-functions-'));
  const packageFolder = join(folder, 'package');
  await promisify(execFile)(process.execPath, [serverless, 'package', '--package', packageFolder], {
    cwd: projectFolder,
    env: { ...process.env, BUILD_DIR: `.esbuild-${process.pid}` },
  });
  for (const name of functionNames) {
    const files = unzipSync(await readFile(join(packageFolder, `${name}.zip`)));
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, name, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
  }
  project.provide('functionsFolder', folder);
  return async () => {
    await rm(folder, { recursive: true, force: true });
    await rm(join(projectFolder, `.esbuild-${process.pid}`), { recursive: true, force: true });
  };
}
