import {
  CloudFormation,
  type CloudFormationClientConfig,
  CloudFormationServiceException,
  type Tag,
} from '@aws-sdk/client-cloudformation';
import { serviceName } from '../functions.ts';

/** What CloudFormation knows of the stack of a stage. */
export interface StageStack {
  readonly status: string;
  /** By name. */
  readonly outputs: Readonly<Record<string, string | undefined>>;
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly tags: readonly Tag[];
}

/** @returns the name of a stage's stack, which is also the name of the table that the stack creates */
export function stackNameOf(stage: string, service = serviceName): string {
  return `${service}-${stage}`;
}

/** @returns the stack, or `undefined` when there is none in the account and region */
export async function findStack(
  StackName: string,
  config: CloudFormationClientConfig = {},
): Promise<StageStack | undefined> {
  try {
    const { Stacks } = await new CloudFormation(config).describeStacks({ StackName });
    const { StackStatus = '', Outputs = [], Parameters = [], Tags = [] } = Stacks?.[0] ?? {};
    const outputs = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
    const values = Parameters.map(({ ParameterKey, ParameterValue }) => [ParameterKey, ParameterValue]);
    const parameters = Object.fromEntries(values);
    return { status: StackStatus, outputs: Object.fromEntries(outputs), parameters, tags: Tags };
  } catch (error) {
    const isMissing = error instanceof CloudFormationServiceException && error.name === 'ValidationError';
    if (isMissing) return undefined;
    throw error;
  }
}

/**
 * Finds the deployment that a stack runs.
 *
 * @returns its timestamp, the option of a rollback, or `undefined` when there is no stack
 */
export async function findDeployment(StackName: string): Promise<string | undefined> {
  if ((await findStack(StackName)) === undefined) return undefined;
  const { TemplateBody = '' } = await new CloudFormation().getTemplate({ StackName });
  // The key of an artifact: `serverless/SERVICE/STAGE/1795252492369-2026-…/x.zip`.
  return /"serverless\/[^/]+\/[^/]+\/(\d+)-/.exec(TemplateBody)?.[1];
}
