import { execFile, spawnSync } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const loader = join(import.meta.dirname, 'load-with-code-cache.mjs');
const maker = join(import.meta.dirname, 'make-code-cache.ts');

/** The Node that makes the code caches; V8 accepts only those of a Node like its own. */
export const codeCacheNode = process.env.CODE_CACHE_NODE || process.execPath;

const env = { PATH: process.env.PATH }; // nothing that changes how it compiles, and no credentials

/** V8 accepts a cache only under the flags that it was made with. Lambda is known to start Node with `--expose-gc`. */
const variants = [
  { extension: 'cache', flags: [] },
  { extension: 'gc-cache', flags: ['--expose-gc'] },
];

/** Make equal caches of equal code. V8 accepts them without these flags, too. */
const reproducible = ['--predictable', '--random-seed=1'];

/** @returns the kind of {@link codeCacheNode}, like `linux-arm64 v24`; nothing when it cannot be started */
export function findCodeCacheKind(): string | undefined {
  const expression = 'process.platform + "-" + process.arch + " " + process.version.split(".")[0]';
  const { status, stdout } = spawnSync(codeCacheNode, ['-p', expression], { encoding: 'utf8', env });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * Adds V8's code cache to a bundle: without it, a cold start takes 25 % more instructions. Makes of NAME.mjs the script
 * NAME.bundle.js, since Node takes code caches for modules only from a folder that it has written, its compiled code
 * NAME.bundle.cache and NAME.bundle.gc-cache, and a new NAME.mjs that loads them.
 */
export async function addCodeCache(folder: string, name: string): Promise<void> {
  const module = join(folder, `${name}.mjs`);
  await writeFile(join(folder, `${name}.bundle.js`), toScript(await readFile(module, 'latin1')), 'latin1');
  for (const { extension, flags } of variants) {
    // Relative paths: the build folder has another name each time, and the caches would differ.
    const args = [...reproducible, ...flags, maker, `${name}.bundle.js`, `${name}.bundle.${extension}`];
    await promisify(execFile)(codeCacheNode, args, { cwd: folder, env }).catch((cause) => {
      throw new Error(`The bundle of ${name} fails when it is loaded:\n${cause.stderr}`, { cause });
    });
  }
  await copyFile(loader, module);
}

/**
 * Turns a module that imports nothing and exports `handler` into a script whose value is a function that resolves with
 * the exports. V8 compiles a `function` behind a parenthesis at once, an arrow function only when it is called: without a
 * cache it would read the whole bundle twice.
 */
function toScript(module: string): string {
  const body = module.replace(/export\{([\w$]+) as handler\};/, 'return{handler:$1};');
  if (body === module) throw new Error('the bundle does not export its handler as esbuild does');
  return `(async function(){"use strict";${body}\n})`;
}
