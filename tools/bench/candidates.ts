import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../serverless/packaging/bundle.ts';
import { type LambdaInstance, startLambdaInstance } from '../runtime/lambda-instance.ts';
import { packageFunctions } from '../runtime/package-functions.ts';
import { type EndpointCall, settings } from './calls.ts';

const peers = ['no-op', 'bare'];

/** A function that takes part: `ours`, `before`, without a framework (`bare`), or without any work (`no-op`). */
export interface Candidate {
  readonly name: string;
  /** The size of its bundle. */
  readonly bytes: number;
  /** Starts an instance on a core of its own. `launcher` is a command line that starts it. */
  start(launcher?: readonly string[]): Promise<LambdaInstance>;
}

/**
 * Packages our functions, and those of another checkout, which take part in place of the peers.
 *
 * @param folder - an empty folder for functions and bundles
 */
export async function packageCandidates(folder: string, databaseUrl: string, against: string | undefined) {
  await packageFunctions(join(folder, 'ours'));
  if (against !== undefined) await packageFunctions(join(folder, 'before'), against);
  const prepare = async (name: string, call: EndpointCall): Promise<Candidate> => {
    const taskRoot = join(folder, name, call.functionName);
    const isPeer = peers.includes(name);
    if (isPeer) await bundlePeer(name, call.functionName, join(taskRoot, 'index.mjs'));
    const handler = isPeer ? 'index.handler' : call.handler;
    const bundleFile = join(taskRoot, handler.replace(/\.handler$/, '.mjs'));
    const environment = { ...settings, DB_URL: `${databaseUrl}/books-${call.bookCount}` };
    return {
      name,
      bytes: (await stat(bundleFile)).size,
      start: (launcher = []) =>
        startLambdaInstance(taskRoot, handler, environment, [...launcher, 'taskset', '-c', '1']),
    };
  };
  return { peers: against === undefined ? peers : ['before'], prepare };
}

/** Bundles a peer's function, with the options for our functions but no plugins. */
async function bundlePeer(name: string, endpoint: string, outfile: string): Promise<void> {
  const file = endpoint === 'createToken' ? 'token' : 'books';
  const contents =
    name === 'no-op'
      ? "export { handler } from './no-op.ts';"
      : `import { serve } from './serve.ts';
         import { ${endpoint} } from './${file}.ts';
         export const handler = serve(${endpoint}, ${endpoint === 'createToken'});`;
  const stdin = { contents, resolveDir: join(import.meta.dirname, 'peers') };
  await build({ ...bundleOptions, stdin, outfile });
}
