import { lookup } from 'node:dns/promises';
import { CloudFormation, CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';

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

/** A stage cannot be found or read. The message says what to do. */
export class StageError extends Error {
  override readonly name = 'StageError';
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
export async function readOutputs(stage: string): Promise<Readonly<Record<string, string | undefined>>> {
  const StackName = `book-catalog-${stage}`;
  try {
    const { Stacks } = await new CloudFormation().describeStacks({ StackName });
    const outputs = Stacks?.[0]?.Outputs ?? [];
    return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (cause) {
    const missing = cause instanceof CloudFormationServiceException && cause.name === 'ValidationError';
    const reason = missing ? 'It is not deployed in this account and region.' : (cause as Error).message;
    throw new StageError(`The stack ${StackName} cannot be read: ${reason}`, { cause });
  }
}
