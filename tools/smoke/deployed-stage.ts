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
}

/** @throws {StageError} when there is no such stage in the account and region, or it cannot be read */
export async function findDeployedStage(stage: string): Promise<DeployedStage> {
  const outputs = await readOutputs(stage);
  const { ServiceEndpoint: baseUrl, ExecuteApiEndpoint: executeApiUrl, CorsOrigin: corsOrigin } = outputs;
  const { CredentialsSecret: SecretId } = outputs;
  if (baseUrl === undefined || SecretId === undefined) {
    throw new StageError(
      `The stack of stage "${stage}" has no outputs: its last deploy failed. Deploy it again.`,
    );
  }
  try {
    const { SecretString = '' } = await new SecretsManager().getSecretValue({ SecretId });
    return { baseUrl, executeApiUrl, corsOrigin, ...JSON.parse(SecretString) };
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new StageError(`The credentials of stage "${stage}" cannot be read: ${reason}`, { cause });
  }
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

/** @throws {StageError} when there is no such stack, or it cannot be read */
export async function readOutputs(stage: string): Promise<StageStack['outputs']> {
  const stackName = stackNameOf(stage);
  const stack = await findStack(stackName).catch((cause: Error) => {
    throw new StageError(`The stack ${stackName} cannot be read: ${cause.message}`, { cause });
  });
  if (stack !== undefined) return stack.outputs;
  throw new StageError(
    `The stack ${stackName} cannot be read: It is not deployed in this account and region.`,
  );
}
