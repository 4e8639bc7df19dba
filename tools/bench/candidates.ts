import { join } from 'node:path';
import { LambdaInstance } from '../../test/aws/runtime/lambda-instance.ts';
import { sizeOfFiles } from '../../test/aws/runtime/size-of-files.ts';
import { buildPeer, frameworks } from './build-peers.ts';
import { functionCore } from './cores.ts';
import type { EndpointCall } from './endpoints.ts';
import { settings } from './settings.ts';

/** A function that takes part. */
export interface Candidate {
  /** The name of its framework, or `ours`. */
  readonly name: string;
  /** Size of its code in bytes, without a code cache. */
  readonly bytes: number;
  /**
   * Starts an instance of it, pinned.
   *
   * @param databaseUrl - DB_URL
   * @param environment - further variables
   * @param launcher - a command line to start it with
   */
  start(
    databaseUrl: string,
    environment?: NodeJS.ProcessEnv,
    launcher?: readonly string[],
  ): Promise<LambdaInstance>;
}

/**
 * Gets everyone ready who serves an endpoint.
 *
 * @param endpoint - the endpoint
 * @param functionsFolder - our packaged functions, unpacked
 * @param workFolder - for the bundles of the others
 * @returns ours first
 */
export async function prepareCandidates(
  endpoint: EndpointCall,
  functionsFolder: string,
  workFolder: string,
): Promise<Candidate[]> {
  const folder = join(functionsFolder, endpoint.functionName);
  const ours = candidate(
    'ours',
    folder,
    `handlers/${endpoint.name}.handler`,
    await sizeOfFiles(join(folder, 'handlers'), /\.m?js$/),
  );
  const peers = frameworks.map(async (framework) => {
    const peerFolder = join(workFolder, framework, endpoint.name);
    const bytes = await buildPeer(framework, endpoint.name, peerFolder);
    return candidate(framework, peerFolder, 'index.handler', bytes);
  });
  return [ours, ...(await Promise.all(peers))];
}

function candidate(name: string, folder: string, handler: string, bytes: number): Candidate {
  return {
    name,
    bytes,
    start: (databaseUrl, environment = {}, launcher = []) =>
      LambdaInstance.start(folder, handler, { ...settings, DB_URL: databaseUrl, ...environment }, [
        ...launcher,
        ...functionCore,
      ]),
  };
}
