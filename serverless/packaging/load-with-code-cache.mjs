// In a package with a code cache this is the module that Lambda imports (code-cache.ts).
const { readFileSync } = process.getBuiltinModule('node:fs');
const { Script } = process.getBuiltinModule('node:vm');
const { crc32 } = process.getBuiltinModule('node:zlib');

const bundle = import.meta.filename.replace(/mjs$/, 'bundle');
const code = readFileSync(`${bundle}.js`);
const cachedData = readCache(`${bundle}.${globalThis.gc ? 'gc-cache' : 'cache'}`);
const script = new Script(code.toString('latin1'), { filename: `${bundle}.js`, cachedData });
if (script.cachedDataRejected) console.info(`The code cache is not for Node ${process.version}.`);

export const { handler } = await script.runInThisContext()();

/** V8 itself accepts a damaged cache, and that of any code of the same length. */
function readCache(file) {
  try {
    const cache = readFileSync(file);
    const end = cache.length - 4;
    if (cache.readUInt32LE(end) === crc32(cache.subarray(0, end), crc32(code))) return cache.subarray(0, end);
  } catch {}
  console.info('The code cache is not for this bundle: it is missing or damaged.');
}
