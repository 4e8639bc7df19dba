import { lookup } from 'node:dns/promises';
import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** The address and credentials of a deployed stage. */
export interface DeployedStage {
  readonly baseUrl: string;
  /** The default address of a stage with a custom domain. */
  readonly executeApiUrl?: string | undefined;
  readonly username: string;
  readonly password: string;
  /** The origin whose scripts may call it. */
  readonly corsOrigin?: string | undefined;
}

/** A stage cannot be found or read. The message says what to do. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

/** The outputs of a stage's stack, by name. */
export type StackOutputs = Readonly<Record<string, string | undefined>>;

/**
 * Finds a deployed stage in the account and region of the environment's credentials.
 *
 * @param stage - its name
 * @throws {StageError} when there is no such stage, or it cannot be read
 */
export async function findDeployedStage(stage: string): Promise<DeployedStage> {
  const { ServiceEndpoint, ExecuteApiEndpoint, CredentialsSecret, CorsOrigin } = await readOutputs(stage);
  if (ServiceEndpoint === undefined || CredentialsSecret === undefined) {
    throw new StageError(
      `The stack of stage "${stage}" has no outputs: its last deploy failed. Deploy it again.`,
    );
  }
  try {
    const { SecretString = '' } = await new SecretsManagerClient().send(
      new GetSecretValueCommand({ SecretId: CredentialsSecret }),
    );
    return {
      baseUrl: ServiceEndpoint,
      executeApiUrl: ExecuteApiEndpoint,
      corsOrigin: CorsOrigin,
      ...(JSON.parse(SecretString) as { username: string; password: string }),
    };
  } catch (cause) {
    throw new StageError(`The credentials of stage "${stage}" cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * Finds the address at which a stage can be reached now: its custom domain may not be in the DNS yet.
 *
 * @param stage - the stage
 */
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

/**
 * Reads the outputs of a stage's stack.
 *
 * @param stage - the stage's name
 * @throws {StageError} when there is no such stack, or it cannot be read
 */
export async function readOutputs(stage: string): Promise<StackOutputs> {
  const name = `book-catalog-${stage}`;
  try {
    const { Stacks } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: name }));
    return Object.fromEntries(
      Stacks?.[0]?.Outputs?.map((output) => [output.OutputKey, output.OutputValue]) ?? [],
    );
  } catch (cause) {
    const missing = cause instanceof CloudFormationServiceException && cause.name === 'ValidationError';
    const reason = missing ? 'It is not deployed in this account and region.' : (cause as Error).message;
    throw new StageError(`The stack ${name} cannot be read: ${reason}`, { cause });
  }
}
