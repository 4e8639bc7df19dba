import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../serverless/packaging/bundle.ts';
import { type LambdaInstance, startLambdaInstance } from '../runtime/lambda-instance.ts';
import { packageFunctions } from '../runtime/package-functions.ts';
import { sizeOfFiles } from '../runtime/size-of-files.ts';
import { type EndpointCall, settings } from './calls.ts';

const frameworks = ['no-op', 'bare', 'middy', 'hono'];

/** A function that takes part; its name is `ours`, `before`, or that of a file in peers/frameworks. */
export interface Candidate {
  readonly name: string;
  /** Size of its code, without a code cache. */
  readonly bytes: number;
  /** Starts an instance on a core of its own. `launcher` is a command line that starts it. */
  start(launcher?: readonly string[]): Promise<LambdaInstance>;
}

/**
 * Packages our functions, and those of another checkout, which take part in place of other frameworks.
 *
 * @param folder - an empty folder for functions and bundles
 */
export async function packageCandidates(folder: string, databaseUrl: string, against: string | undefined) {
  await packageFunctions(join(folder, 'ours'));
  if (against !== undefined) await packageFunctions(join(folder, 'before'), against);
  const prepare = async (name: string, call: EndpointCall): Promise<Candidate> => {
    const taskRoot = join(folder, name, call.functionName);
    const isPeer = frameworks.includes(name);
    if (isPeer) await bundlePeer(name, call.functionName, join(taskRoot, 'index.mjs'));
    const handler = isPeer ? 'index.handler' : call.handler;
    const environment = { ...settings, DB_URL: `${databaseUrl}/books-${call.bookCount}` };
    return {
      name,
      bytes: await sizeOfFiles(isPeer ? taskRoot : join(taskRoot, 'handlers'), /\.m?js$/),
      start: (launcher = []) =>
        startLambdaInstance(taskRoot, handler, environment, [...launcher, 'taskset', '-c', '1']),
    };
  };
  return { peers: against === undefined ? frameworks : ['before'], prepare };
}

/** Bundles an endpoint under a framework, with the options for our functions but no plugins. */
async function bundlePeer(framework: string, endpoint: string, outfile: string): Promise<void> {
  const contents =
    framework === 'no-op'
      ? "export { handler } from './frameworks/no-op.ts';"
      : `import { serve } from './frameworks/${framework}.ts';
         import { ${endpoint} } from './${endpoint === 'createToken' ? 'token' : 'books'}.ts';
         export const handler = serve(${endpoint});`;
  const stdin = { contents, resolveDir: join(import.meta.dirname, 'peers') };
  await build({ ...bundleOptions, stdin, outfile });
}
