import type { Plugin } from 'esbuild';
import { builtInModules } from './built-in-modules.ts';
import { codeCache } from './code-cache.ts';
import { codeCacheNode, findCodeCacheKind } from './code-cache-node.ts';

/** The part of the Serverless Framework's `serverless` object that is used here. */
interface Serverless {
  readonly processedInput: { readonly commands: readonly string[] };
  readonly service: { readonly provider: { readonly architecture: string; readonly runtime: string } };
  readonly classes: {
    /** What the framework prints as a plain message, without a stack, and ends with exit code 1. */
    readonly Error: new (
      message: string,
    ) => Error;
  };
}

/** The commands whose bundles go to Lambda; all others run them here. */
const packagingCommands = new Set(['package', 'deploy']);

/** Operating system and processor, as Node names them, that Lambda runs functions of an architecture on. */
const platforms: Readonly<Record<string, string>> = { arm64: 'linux-arm64', x86_64: 'linux-x64' };

/** serverless-esbuild asks more than once. */
let chosen: Plugin[] | undefined;

/**
 * What esbuild does besides bundling, as serverless-esbuild asks for it (serverless.yml, custom.esbuild.plugins).
 *
 * @param serverless - the framework
 * @throws an error without a stack when CODE_CACHE_NODE is wrong
 */
export default function esbuildPlugins(serverless: Serverless): Plugin[] {
  chosen ??= canMakeCodeCaches(serverless) ? [builtInModules, codeCache] : [builtInModules];
  return chosen;
}

function canMakeCodeCaches({ processedInput, service, classes }: Serverless): boolean {
  if (!packagingCommands.has(processedInput.commands[0] ?? '')) return false;
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
