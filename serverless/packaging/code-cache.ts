import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeCacheEnvironment, codeCacheNode } from './code-cache-node.ts';

const loader = join(import.meta.dirname, 'load-with-code-cache.mjs');
const maker = join(import.meta.dirname, 'make-code-cache.ts');

/**
 * V8 takes a cache only under the flags that it was made with. Sizes of the heap do not count; `--expose-gc` does, which
 * Lambda is known to start Node with, and need not for ever.
 */
const variants = [
  { extension: 'cache', flags: [] },
  { extension: 'gc-cache', flags: ['--expose-gc'] },
];

/** Make equal caches of equal code, whatever else the machine does. V8 takes them without these flags, too. */
const reproducible = ['--predictable', '--random-seed=1'];

/**
 * Lets a function start with the code that V8 has compiled here, which saves a fifth of a cold start
 * (docs/benchmarks.md). Of the bundle `get-book.mjs` it makes
 *
 * - `get-book.bundle.js`, a script, since Node takes code caches for modules only from a folder that it has written;
 * - `get-book.bundle.cache` and `get-book.bundle.gc-cache`, its compiled code;
 * - `get-book.mjs`, which loads them.
 *
 * @param folder - where the bundle is
 * @param name - its name without its extension
 */
export async function addCodeCache(folder: string, name: string): Promise<void> {
  const module = join(folder, `${name}.mjs`);
  await writeFile(join(folder, `${name}.bundle.js`), toScript(await readFile(module, 'latin1')), 'latin1');
  for (const { extension, flags } of variants) {
    // Relative paths: V8 would see those of the build folder, which has another name each time.
    const args = [...reproducible, ...flags, maker, `${name}.bundle.js`, `${name}.bundle.${extension}`];
    await promisify(execFile)(codeCacheNode, args, { cwd: folder, env: codeCacheEnvironment });
  }
  await copyFile(loader, module);
}

/**
 * Turns a module that imports nothing and exports `handler` into a script whose value is a function. That runs what
 * the module would run, and resolves with its exports. V8 takes a `function` behind a parenthesis for one that is
 * called at once, an arrow function not: without a cache it would read the whole bundle twice.
 */
function toScript(module: string): string {
  const body = module.replace(/export\{([\w$]+) as handler\};/, 'return{handler:$1};');
  if (body === module) throw new Error('the bundle does not export its handler as esbuild does');
  return `(async function(){"use strict";${body}\n})`;
}
