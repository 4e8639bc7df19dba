// In a package with a code cache this is the module that Lambda imports (code-cache.ts).
const { readFileSync } = process.getBuiltinModule('node:fs');
const { Script } = process.getBuiltinModule('node:vm');

const bundle = import.meta.filename.replace(/mjs$/, 'bundle');
const script = new Script(readFileSync(`${bundle}.js`, 'latin1'), {
  filename: `${bundle}.js`,
  cachedData: readFileSync(`${bundle}.${globalThis.gc ? 'gc-cache' : 'cache'}`),
});
if (script.cachedDataRejected) console.info(`The code cache is not for Node ${process.version}.`);

export const { handler } = await script.runInThisContext()();
