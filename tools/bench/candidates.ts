import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../serverless/packaging/bundle.ts';
import { startLambdaInstance } from '../runtime/lambda-instance.ts';
import { packageFunctions } from '../runtime/package-functions.ts';
import { sizeOfFiles } from '../runtime/size-of-files.ts';
import { type EndpointCall, settings } from './calls.ts';

const frameworks = ['no-op', 'bare', 'middy', 'hono'];

/** A function under measurement has this core to itself; the bench and the database share core 0. */
const functionCore = ['taskset', '-c', '1'];

export type PrepareCandidates = Awaited<ReturnType<typeof packageCandidates>>;

/**
 * Packages our functions.
 *
 * @param folder - an empty folder for functions and bundles
 * @param against - another checkout, whose functions take part in place of other frameworks
 * @returns a function that gives the candidates which serve an endpoint, ours first; `only` names those that are wanted
 */
export async function packageCandidates(folder: string, databaseUrl: string, against: string | undefined) {
  await packageFunctions(join(folder, 'ours'));
  if (against !== undefined) await packageFunctions(join(folder, 'before'), against);
  const peers = against === undefined ? frameworks : ['before'];
  return (endpoint: EndpointCall, only: readonly string[] = peers) => {
    const names = ['ours', ...peers.filter((name) => only.includes(name))];
    return Promise.all(
      names.map((name) => prepareCandidate(join(folder, name), name, databaseUrl, endpoint)),
    );
  };
}

/** A function that takes part; its name is `ours`, `before`, or that of a file in peers/frameworks. */
export type Candidate = Awaited<ReturnType<typeof prepareCandidate>>;

async function prepareCandidate(
  folder: string,
  name: string,
  databaseUrl: string,
  { functionName, handler: packagedHandler }: EndpointCall,
) {
  const isPackaged = !frameworks.includes(name);
  const taskRoot = join(folder, functionName);
  const handler = isPackaged ? packagedHandler : 'index.handler';
  return {
    name,
    /** Size of its code, without a code cache. */
    bytes: isPackaged
      ? await sizeOfFiles(join(taskRoot, 'handlers'), /\.m?js$/)
      : await bundlePeer(name, functionName, join(taskRoot, 'index.mjs')),
    /** Starts an instance, pinned to a core. `launcher` is a command line that starts it. */
    start: (environment: NodeJS.ProcessEnv = {}, launcher: readonly string[] = []) =>
      startLambdaInstance(taskRoot, handler, { ...settings, DB_URL: databaseUrl, ...environment }, [
        ...launcher,
        ...functionCore,
      ]),
  };
}

/** Bundles an endpoint under a framework, with the options for our functions but no plugins. @returns its bytes */
async function bundlePeer(framework: string, endpoint: string, outfile: string): Promise<number> {
  await build({
    ...bundleOptions,
    stdin: {
      contents:
        framework === 'no-op'
          ? "export { handler } from './frameworks/no-op.ts';"
          : `import { serve } from './frameworks/${framework}.ts';
             import { ${endpoint} } from './${endpoint === 'createToken' ? 'token' : 'books'}.ts';
             export const handler = serve(${endpoint});`,
      resolveDir: join(import.meta.dirname, 'peers'),
    },
    outfile,
  });
  return (await stat(outfile)).size;
}
