import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type BuildOptions, build } from 'esbuild';
// biome-ignore lint/style/noRestrictedImports: The bench starts functions as the tests do.
import { type LambdaInstance, startLambdaInstance } from '../../test/aws/runtime/lambda-instance.ts';
// biome-ignore lint/style/noRestrictedImports: The bench starts functions as the tests do.
import { packageFunctions } from '../../test/aws/runtime/package-functions.ts';
import { type Call, settings } from './calls.ts';
import { stubRoot } from './stub-dynamodb.ts';

const peers = ['no-op', 'bare'];

/** A function that takes part: `ours`, `before`, without a framework (`bare`), or without any work (`no-op`). */
export interface Candidate {
  readonly name: string;
  /** The size of its bundle. */
  readonly bytes: number;
  /** Starts an instance on a core of its own. `launcher` is a command line that starts it. */
  start(launcher?: readonly string[]): Promise<LambdaInstance>;
}

/** The names of the others, and what prepares a candidate for a call. */
export type Candidates = Awaited<ReturnType<typeof packageCandidates>>;

/**
 * Packages our functions, and those of another checkout, which take part in place of the peers.
 *
 * @param folder - an empty folder for functions and bundles
 */
export async function packageCandidates(folder: string, databaseUrl: string, against: string | undefined) {
  await packageFunctions(join(folder, 'ours'));
  if (against !== undefined) await packageFunctions(join(folder, 'before'), against);
  const roots = join(folder, 'stub-root.pem');
  await writeFile(roots, stubRoot);
  const prepare = async (name: string, call: Call): Promise<Candidate> => {
    const taskRoot = join(folder, name, call.functionName);
    const isPeer = peers.includes(name);
    const handler = isPeer ? 'index.handler' : call.handler;
    const bundle = join(taskRoot, handler.replace(/\.handler$/, '.mjs'));
    if (isPeer) await bundlePeer(name, call.functionName, bundle);
    const environment = { ...settings, NODE_EXTRA_CA_CERTS: roots, DB_URL: `${databaseUrl}/books-${call.books}` };
    return {
      name,
      bytes: (await stat(bundle)).size,
      start: (launcher = []) =>
        startLambdaInstance(taskRoot, handler, environment, [...launcher, 'taskset', '-c', '1']),
    };
  };
  return { others: against === undefined ? peers : ['before'], prepare };
}

/** Invokes a function several times. @returns the last body @throws an Error unless the status is always 2xx */
export async function invokeTimes(instance: LambdaInstance, event: unknown, times: number): Promise<string> {
  let lastBody = '';
  for (let call = 0; call < times; call += 1) {
    const { statusCode, body } = await instance.api.invoke(event);
    lastBody = await text(body);
    if (statusCode > 299) throw new Error(`the function failed: ${statusCode} ${lastBody}\n${instance.output}`);
  }
  return lastBody;
}

/** As AWS's SAM and CDK bundle TypeScript ("Deploy transpiled TypeScript code in Lambda with .zip file archives"). */
const peerOptions: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'], // ES modules where a package has them: smaller bundles
  logLevel: 'error',
};

/** Bundles a peer's function. */
async function bundlePeer(name: string, functionName: string, outfile: string): Promise<void> {
  const file = name === 'no-op' ? 'no-op' : functionName === 'createToken' ? 'token' : 'books';
  const contents = `export { ${name === 'no-op' ? 'handler' : functionName} as handler } from './${file}.ts';`;
  const stdin = { contents, resolveDir: join(import.meta.dirname, 'peers') };
  await build({ ...peerOptions, stdin, outfile });
}
