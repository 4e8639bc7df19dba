import { paginateGetParametersByPath, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm';

/** The path of a stage's settings in Parameter Store. Each setting is a parameter `/book-catalog/STAGE/NAME`. */
export function settingsPath(stage: string): string {
  return `/book-catalog/${stage}`;
}

/** Reads the settings of a stage, by name. They depend on the account, so they are not in the repository. */
export async function readSettings(stage: string, config: SSMClientConfig): Promise<Map<string, string>> {
  const path = settingsPath(stage);
  const pages = paginateGetParametersByPath({ client: new SSMClient(config) }, { Path: path });
  const settings = new Map<string, string>();
  for await (const { Parameters = [] } of pages) {
    for (const { Name = '', Value = '' } of Parameters) settings.set(Name.slice(path.length + 1), Value);
  }
  return settings;
}
