import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hooks, Serverless } from '../framework.ts';
import { codeCacheNode, findCodeCacheKind } from './code-cache-node.ts';

/** Operating system and processor, as Node names them, that Lambda runs functions of an architecture on. */
const platforms: Readonly<Record<string, string>> = { arm64: 'linux-arm64', x86_64: 'linux-x64' };

/**
 * Serverless plugin that packages each function: a zip with its bundle and, where it can be made, the code cache. Other
 * commands do not notice it.
 */
export default class PackagingPlugin {
  readonly hooks: Hooks;
  readonly #serverless: Serverless;

  constructor(serverless: Serverless) {
    this.#serverless = serverless;
    this.hooks = { 'before:package:createDeploymentArtifacts': () => this.#package() };
  }

  async #package(): Promise<void> {
    const { serviceDir, service } = this.#serverless;
    // The local service has this plugin, too, and is spared the time and memory of the bundler.
    const { packageModule } = await import('./package-module.ts');
    const withCodeCache = this.#canMakeCodeCaches();
    const folder = join(serviceDir, '.serverless');
    await mkdir(folder, { recursive: true });
    await Promise.all(
      Object.entries(service.functions).map(async ([name, definition]) => {
        const zip = join(folder, `${name}.zip`);
        const module = definition.handler.slice(0, definition.handler.lastIndexOf('.'));
        await writeFile(zip, await packageModule(serviceDir, module, withCodeCache));
        definition.package = { artifact: zip };
      }),
    );
  }

  #canMakeCodeCaches(): boolean {
    const { classes, service } = this.#serverless;
    const { architecture, runtime } = service.provider;
    const wanted = `${platforms[architecture]} ${runtime.replace(/^nodejs(\d+)\.x$/, 'v$1')}`;
    const kind = findCodeCacheKind();
    if (kind === undefined) {
      throw new classes.Error(`CODE_CACHE_NODE names no Node that runs here: ${codeCacheNode}`);
    }
    if (kind === wanted) return true;
    process.stderr.write(
      `Packaged without code caches, so that cold starts take longer: ${codeCacheNode} makes them for ${kind}, ` +
        `not for ${wanted} (docs/operations.md, "Code caches").\n`,
    );
    return false;
  }
}
