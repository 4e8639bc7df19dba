import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Hooks, Serverless } from '../framework.ts';
import { addCodeCache, codeCacheNode, findCodeCacheKind } from './code-cache.ts';

/** Lambda's architectures, as Node names them. */
const platforms: Readonly<Record<string, string>> = { arm64: 'linux-arm64', x86_64: 'linux-x64' };

/** Equal code makes equal zips, on each machine. Lambda's user may read the files. */
const zipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 << 16 } as const;

/** Serverless plugin that packages each function: a zip with its bundle and, where it can be made, the code cache. */
export default class PackagingPlugin {
  readonly hooks: Hooks;
  readonly #serverless: Serverless;

  constructor(serverless: Serverless) {
    this.#serverless = serverless;
    this.hooks = { 'before:package:createDeploymentArtifacts': () => this.#package() };
  }

  async #package(): Promise<void> {
    const { serviceDir, service } = this.#serverless;
    const withCodeCache = this.#canMakeCodeCaches();
    const folder = join(serviceDir, '.serverless');
    await mkdir(folder, { recursive: true });
    await Promise.all(
      Object.entries(service.functions).map(async ([name, definition]) => {
        const artifact = join(folder, `${name}.zip`);
        const module = definition.handler.slice(0, definition.handler.lastIndexOf('.'));
        await writeFile(artifact, await zipFunction(serviceDir, module, withCodeCache));
        definition.package = { artifact };
      }),
    );
  }

  #canMakeCodeCaches(): boolean {
    const { classes, service } = this.#serverless;
    const { architecture, runtime } = service.provider;
    const wanted = `${platforms[architecture]} ${runtime.replace(/^nodejs(\d+)\.x$/, 'v$1')}`;
    const kind = findCodeCacheKind();
    if (kind === wanted) return true;
    if (!kind) throw new classes.Error(`CODE_CACHE_NODE names no Node that runs here: ${codeCacheNode}`);
    process.stderr.write(
      `Packaged without code caches, so that cold starts take longer: ${codeCacheNode} makes them for ${kind}, ` +
        `not for ${wanted} (docs/operations.md, "Code caches").\n`,
    );
    return false;
  }
}

/** @param module - path of the function's module below the folder of the service, without its extension */
async function zipFunction(serviceDir: string, module: string, withCodeCache: boolean): Promise<Uint8Array> {
  // Only here: the local service has this plugin, too, without the bundler's time and memory.
  const [{ bundle }, { zipSync }] = await Promise.all([import('./bundle.ts'), import('fflate')]);
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-build-'));
  try {
    await bundle(serviceDir, `${module}.ts`, join(folder, `${basename(module)}.mjs`));
    if (withCodeCache) await addCodeCache(folder, basename(module));
    const files: Record<string, Uint8Array> = {};
    for (const file of (await readdir(folder)).sort()) {
      files[join(dirname(module), file)] = await readFile(join(folder, file));
    }
    return zipSync(files, zipOptions);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
