import { lookup } from 'node:dns/promises';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { findStack, type StageStack, stackNameOf } from '../../serverless/deploy/stack.ts';
import { StageError } from '../../serverless/deploy/target.ts';

/** Where a deployed stage is, and how to log in there. */
export interface DeployedStage {
  readonly baseUrl: string;
  /** The address at AWS of a stage that has a domain name of its own. */
  readonly executeApiUrl?: string | undefined;
  readonly username: string;
  readonly password: string;
  /** The web site whose scripts may call it. */
  readonly corsOrigin?: string | undefined;
  /** In seconds. */
  readonly tokenLifetime: number;
}

/** @throws {StageError} as {@link readStack} does, and an error of AWS when its credentials cannot be read */
export async function findDeployedStage(stage: string): Promise<DeployedStage> {
  const { ServiceEndpoint: baseUrl = '', ...outputs } = (await readStack(stage)).outputs;
  const { ExecuteApiEndpoint: executeApiUrl, CorsOrigin: corsOrigin, CredentialsSecret: SecretId } = outputs;
  const { SecretString = '' } = await new SecretsManager().getSecretValue({ SecretId });
  const tokenLifetime = Number(outputs.TokenLifetime);
  return { baseUrl, executeApiUrl, corsOrigin, tokenLifetime, ...JSON.parse(SecretString) };
}

/** Finds the address at which a stage can be reached now: its domain name may not be in the DNS yet. */
export async function findAddress({ baseUrl, executeApiUrl }: DeployedStage): Promise<string> {
  if (executeApiUrl === undefined) return baseUrl;
  const { hostname } = new URL(baseUrl);
  try {
    await lookup(hostname);
    return baseUrl;
  } catch (error) {
    console.log(`${hostname} is not in the DNS yet: ${(error as Error).message}`);
    return executeApiUrl;
  }
}

/** @throws {StageError} when there is no such stack, when it cannot be read, or when its deploy failed */
export async function readStack(stage: string): Promise<StageStack> {
  const stackName = stackNameOf(stage);
  const stack = await findStack(stackName).catch((cause: Error) => {
    throw new StageError(`The stack ${stackName} cannot be read: ${cause.message}`, { cause });
  });
  if (stack === undefined) throw new StageError(`${stackName} is not deployed in this account and region.`);
  if (stack.outputs.ServiceEndpoint !== undefined) return stack;
  throw new StageError(`The stack ${stackName} has no outputs: its last deploy failed. Deploy it again.`);
}
