import { isBuiltin } from 'node:module';
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild';

/**
 * CommonJS in place of parts of the AWS SDK that no request reaches. lib/dynamodb/client.ts gives the credentials and
 * the settings, and a table needs neither event streams nor endpoint discovery. These parts would be 40 % of a bundle,
 * and a cold start would take 5 % more instructions.
 */
const replacements: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': '',
  '@aws-sdk/middleware-endpoint-discovery': `
    exports.resolveEndpointDiscoveryConfig = (config) => config;
    exports.NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {};`,
  '@smithy/core/event-streams': '',
  'node:fs/promises': '',
};

/**
 * Gets Node's own modules from `process.getBuiltinModule`. An import would read every export of a module, and reading
 * some of them loads further modules: a cold start would take 22 % more instructions.
 */
const replaceModules: Plugin = {
  name: 'replace-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@a-z]/ }, ({ path }) =>
      isBuiltin(path) || path in replacements ? { path, namespace: 'replaced' } : undefined,
    );
    // As CommonJS, because esbuild reads its exports only where they are used.
    onLoad({ filter: /.*/, namespace: 'replaced' }, ({ path }) => ({
      contents: replacements[path] ?? `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** The options of esbuild for one ES module that Lambda's Node runs. */
export const bundleOptions: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'], // ES modules where a package has them: smaller bundles
  logLevel: 'error',
};

/**
 * Bundles a function with the tested version of the AWS SDK, which also starts faster than the runtime's own.
 *
 * @param entryPoint - the function's module, as a path below `serviceDir`
 * @returns the code of one ES module
 */
export async function bundle(serviceDir: string, entryPoint: string): Promise<Uint8Array> {
  const input = { absWorkingDir: serviceDir, entryPoints: [entryPoint], plugins: [replaceModules] };
  const { outputFiles } = await build({ ...bundleOptions, ...input, write: false });
  const [file] = outputFiles as [OutputFile]; // for the one entry point
  return file.contents;
}
