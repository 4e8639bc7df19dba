import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { EndpointName } from './endpoints.ts';

/** What our functions are compared with, by the file in peers/frameworks. */
export const frameworks = [
  'no-op',
  'bare',
  'middy',
  'hono',
  'lambda-api',
  'powertools',
  'express',
  'fastify',
] as const;

export type Framework = (typeof frameworks)[number];

/** Packages in CommonJS ask for `require`, which an ES module does not have. */
const requireBanner =
  "import { createRequire as benchCreateRequire } from 'node:module'; const require = benchCreateRequire(import.meta.url);";

/**
 * Bundles an endpoint as served by a framework, with the options that serverless.yml has for ours but no plugins.
 *
 * @param framework - the framework
 * @param endpoint - the endpoint
 * @param folder - gets the bundle as `index.mjs`
 * @returns the size of the bundle in bytes
 */
export async function buildPeer(
  framework: Framework,
  endpoint: EndpointName,
  folder: string,
): Promise<number> {
  await mkdir(folder, { recursive: true });
  const outfile = join(folder, 'index.mjs');
  const bundlesCommonJs = framework === 'express' || framework === 'fastify' || framework === 'lambda-api';
  await build({
    stdin: {
      contents:
        framework === 'no-op'
          ? "import { serve } from './frameworks/no-op.ts'; export const handler = serve();"
          : `import { serve } from './frameworks/${framework}.ts';
             import { endpoint } from './endpoints/${endpoint}.ts';
             export const handler = serve(endpoint);`,
      resolveDir: join(import.meta.dirname, 'peers'),
    },
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // lambda-api loads it for files in S3 alone.
    external: ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner'],
    logLevel: 'error',
    ...(bundlesCommonJs && { banner: { js: requireBanner } }),
  });
  return (await stat(outfile)).size;
}
