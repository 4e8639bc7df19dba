import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The part of the Serverless Framework's `serverless` object that this plugin uses. */
interface Serverless {
  readonly processedInput: { readonly commands: readonly string[] };
}

/**
 * Serverless plugin that bundles the functions with esbuild, by serverless-esbuild. The local service runs the sources, so
 * it is spared the time and memory of loading the bundler.
 */
export default class PackagingPlugin {
  readonly hooks = {};

  constructor(serverless: Serverless, ...rest: readonly unknown[]) {
    if (serverless.processedInput.commands[0] === 'offline') return;
    const EsbuildPlugin = require('serverless-esbuild');
    // biome-ignore lint/correctness/noConstructorReturn: the framework takes what `new` gives for the plugin
    return new EsbuildPlugin(serverless, ...rest);
  }
}
