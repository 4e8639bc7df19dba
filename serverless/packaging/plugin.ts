import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hooks, Serverless } from '../framework-types.ts';

/** Equal code makes equal zips on every machine. Lambda's user may read the files: on Unix (`os` 3), rw-r--r--. */
const zipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 << 16 } as const;

/** Serverless plugin that packages each function as a zip with its bundle. */
export default class PackagingPlugin {
  readonly hooks: Hooks;
  readonly #serverless: Serverless;

  constructor(serverless: Serverless) {
    this.#serverless = serverless;
    this.hooks = { 'before:package:createDeploymentArtifacts': () => this.#package() };
  }

  async #package(): Promise<void> {
    const { serviceDir, service } = this.#serverless;
    const folder = join(serviceDir, '.serverless');
    await mkdir(folder, { recursive: true });
    await Promise.all(
      Object.entries(service.functions).map(async ([name, definition]) => {
        const artifact = join(folder, `${name}.zip`);
        const module = definition.handler.slice(0, definition.handler.lastIndexOf('.'));
        await writeFile(artifact, await zipFunction(serviceDir, module));
        definition.package = { artifact };
      }),
    );
  }
}

/** @param module - path of the function's module below the folder of the service, without its extension */
async function zipFunction(serviceDir: string, module: string): Promise<Uint8Array> {
  // Imported here, because the local service loads this plugin too, and should not pay for the bundler.
  const [{ bundle }, { zipSync }] = await Promise.all([import('./bundle.ts'), import('fflate')]);
  return zipSync({ [`${module}.mjs`]: await bundle(serviceDir, `${module}.ts`) }, zipOptions);
}
