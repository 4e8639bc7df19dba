import { paginateGetParametersByPath, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm';

/**
 * Reads the settings of a stage: what is particular to this account and therefore not in the repository. Each is a parameter
 * `/book-catalog/STAGE/NAME` in Parameter Store, so every deploy has them, from wherever it is started.
 *
 * @param stage - the name of the stage
 * @param config - region and credentials
 * @returns the values, by name
 */
export async function readSettings(
  stage: string,
  config: SSMClientConfig,
): Promise<ReadonlyMap<string, string>> {
  const path = settingsPath(stage);
  const settings = new Map<string, string>();
  const pages = paginateGetParametersByPath({ client: new SSMClient(config) }, { Path: path });
  for await (const { Parameters = [] } of pages) {
    for (const { Name = '', Value = '' } of Parameters) settings.set(Name.slice(path.length + 1), Value);
  }
  return settings;
}

/**
 * Where the settings of a stage are in Parameter Store.
 *
 * @param stage - the name of the stage
 */
export function settingsPath(stage: string): string {
  return `/book-catalog/${stage}`;
}
