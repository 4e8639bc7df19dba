import { spawnSync } from 'node:child_process';

/** The Node that makes the code caches; V8 takes one only from a Node that is like its own. */
export const codeCacheNode = process.env.CODE_CACHE_NODE || process.execPath;

/** Its environment: nothing that would change how it compiles, and nobody's credentials. */
export const codeCacheEnvironment = { PATH: process.env.PATH };

/**
 * Finds out which kind of Node that is, as far as a cache depends on it and can be known before Lambda has seen it.
 *
 * @returns operating system and processor as Node names them, and the major version, like `linux-arm64 v24`; nothing
 *   when it cannot be started
 */
export function findCodeCacheKind(): string | undefined {
  const expression = 'process.platform + "-" + process.arch + " " + process.version.split(".")[0]';
  const options = { encoding: 'utf8', env: codeCacheEnvironment } as const;
  const { status, stdout } = spawnSync(codeCacheNode, ['-p', expression], options);
  return status === 0 ? stdout.trim() : undefined;
}
