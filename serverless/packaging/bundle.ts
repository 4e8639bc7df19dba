import { join } from 'node:path';
import { build } from 'esbuild';
import { builtInModules } from './built-in-modules.ts';

const unreached = './serverless/packaging/unreached-sdk-parts.ts';

/**
 * Parts of the SDK that would be loaded and never used, a third of the bundle, and what reads its configuration files.
 */
const alias = {
  '@aws-sdk/credential-provider-node': unreached,
  '@aws-sdk/middleware-endpoint-discovery': unreached,
  '@smithy/node-http-handler': unreached,
  '@smithy/core/event-streams': unreached,
  'node:fs/promises': unreached,
};

/**
 * Bundles a function into one ES module. The AWS SDK comes with it: the version that was tested, and a faster start than
 * the runtime's own.
 *
 * @param serviceDir - the folder of the service
 * @param entryPoint - the function's source, below it
 * @param outfile - where the bundle goes
 */
export async function bundle(serviceDir: string, entryPoint: string, outfile: string): Promise<void> {
  await build({
    absWorkingDir: serviceDir,
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'], // ES modules where a package has them: smaller bundles
    alias: Object.fromEntries(Object.entries(alias).map(([name, file]) => [name, join(serviceDir, file)])),
    plugins: [builtInModules],
    logLevel: 'error',
  });
}
