import { paginateGetParametersByPath, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm';

/** Where the settings of a stage are in Parameter Store: each is a parameter `/book-catalog/STAGE/NAME`. */
export function settingsPath(stage: string): string {
  return `/book-catalog/${stage}`;
}

/** Reads the settings of a stage, by name, which belong to an account and therefore not in the repository. */
export async function readSettings(stage: string, config: SSMClientConfig): Promise<Map<string, string>> {
  const path = settingsPath(stage);
  const pages = paginateGetParametersByPath({ client: new SSMClient(config) }, { Path: path });
  const settings = new Map<string, string>();
  for await (const { Parameters = [] } of pages) {
    for (const { Name = '', Value = '' } of Parameters) settings.set(Name.slice(path.length + 1), Value);
  }
  return settings;
}
