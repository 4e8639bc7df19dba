import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * esbuild plugin that lets bundles get Node's own modules from `process.getBuiltinModule` instead of importing them. An
 * import reads every export of a built-in module, some of which load further modules when they are read: tens of
 * milliseconds of each cold start for things that nobody uses.
 */
export const builtInModules: Plugin = {
  name: 'built-in-modules',
  setup(build) {
    // esbuild asks plugins before it looks at its aliases.
    const { alias = {} } = build.initialOptions;
    build.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) && !Object.hasOwn(alias, path) ? { path, namespace: 'built-in' } : undefined,
    );
    // CommonJS, of which esbuild reads an export only where it is used.
    build.onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
