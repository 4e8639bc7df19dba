import { type Parameter, paginateGetParametersByPath, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm';
import { isTemporary } from './target.ts';

/** The path of a stage's settings in Parameter Store. Each setting is a parameter `/book-catalog/STAGE/NAME`. */
export function settingsPath(stage: string): string {
  return `/book-catalog/${stage}`;
}

/** What belongs to `dev` alone: its mails, its names, its table, its instances, and what its deployer may do. */
const ofDevAlone = [
  ...['alarmEmail', 'monthlyBudget', 'domainName', 'certificateArn', 'hostedZoneId'],
  ...['listConcurrency', 'permissionsBoundary'],
];

/**
 * Reads the settings of a stage, by their names. They depend on the account, so they are not in the repository. Where a
 * temporary stage such as `pr-12` has none of its own, it has that of all `pr-*`, under `/book-catalog/pr-/`, and then that
 * of `dev`.
 */
export async function readSettings(stage: string, config: SSMClientConfig): Promise<Map<string, Parameter>> {
  const client = new SSMClient(config);
  const own = await readPath(client, settingsPath(stage));
  if (!isTemporary(stage)) return own;
  const ofDev = await readPath(client, settingsPath('dev'));
  for (const name of ofDevAlone) ofDev.delete(name);
  const [prefix] = /^[^-]+-/.exec(stage) ?? [];
  const ofPattern = prefix === undefined ? [] : await readPath(client, settingsPath(prefix));
  return new Map([...ofDev, ...ofPattern, ...own]);
}

async function readPath(client: SSMClient, path: string): Promise<Map<string, Parameter>> {
  const settings = new Map<string, Parameter>();
  for await (const { Parameters = [] } of paginateGetParametersByPath({ client }, { Path: path })) {
    for (const parameter of Parameters) settings.set(parameter.Name?.slice(path.length + 1) ?? '', parameter);
  }
  return settings;
}
