import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../serverless/packaging/bundle.ts';
import { packageFunctions } from '../../test/aws/runtime/package-functions.ts';
import { sizeOfFiles } from '../../test/aws/runtime/size-of-files.ts';
import { type LambdaInstance, startLambdaInstance } from '../../test/simulators/lambda-instance.ts';
import { type EndpointCall, settings } from './calls.ts';

/** A function that takes part. */
export interface Candidate {
  /** `ours`, `before`, or the name of a file in peers/frameworks. */
  readonly name: string;
  /** Size of its code in bytes, without a code cache. */
  readonly bytes: number;
  /** Starts an instance, pinned to a core. `launcher` is a command line that starts it. */
  start(
    databaseUrl: string,
    environment?: NodeJS.ProcessEnv,
    launcher?: readonly string[],
  ): Promise<LambdaInstance>;
}

/** Gives the candidates that serve an endpoint, ours first. `only` names those that are wanted, in place of all. */
export type PrepareCandidates = (endpoint: EndpointCall, only?: readonly string[]) => Promise<Candidate[]>;

const frameworks = ['no-op', 'bare', 'middy', 'hono'];

/** A function under measurement has this core to itself; the bench and the database share core 0. */
const functionCore = ['taskset', '-c', '1'];

/**
 * Packages our functions.
 *
 * @param folder - an empty folder for functions and bundles
 * @param against - another checkout, whose functions take part in place of other frameworks
 */
export async function packageCandidates(
  folder: string,
  against: string | undefined,
): Promise<PrepareCandidates> {
  await packageFunctions(join(folder, 'ours'));
  if (against !== undefined) await packageFunctions(join(folder, 'before'), against);
  const peers = against === undefined ? frameworks : ['before'];
  return (endpoint, only = peers) =>
    Promise.all(
      ['ours', ...peers.filter((name) => only.includes(name))].map((name) =>
        prepareCandidate(folder, name, endpoint),
      ),
    );
}

async function prepareCandidate(folder: string, name: string, endpoint: EndpointCall): Promise<Candidate> {
  const isPackaged = !frameworks.includes(name);
  const functionName = endpoint.name.replace(/-(.)/, (_, letter) => letter.toUpperCase());
  const taskRoot = join(folder, name, functionName);
  const bytes = isPackaged
    ? await sizeOfFiles(join(taskRoot, 'handlers'), /\.m?js$/)
    : await bundlePeer(name, functionName, join(taskRoot, 'index.mjs'));
  const handler = isPackaged ? `handlers/${endpoint.name}.handler` : 'index.handler';
  return {
    name,
    bytes,
    start: (databaseUrl, environment = {}, launcher = []) =>
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
             import { ${endpoint} } from './${endpoint === 'createToken' ? 'login' : 'books'}.ts';
             export const handler = serve(${endpoint});`,
      resolveDir: join(import.meta.dirname, 'peers'),
    },
    outfile,
  });
  return (await stat(outfile)).size;
}
