import {
  CloudFormation,
  type CloudFormationClientConfig,
  CloudFormationServiceException,
} from '@aws-sdk/client-cloudformation';

/** What CloudFormation says of the stack of a stage. */
export interface StageStack {
  readonly status: string;
  /** By name. */
  readonly outputs: Readonly<Record<string, string | undefined>>;
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** The name of the stack of a stage, and of the table that it creates. */
export function stackNameOf(stage: string): string {
  return `book-catalog-${stage}`;
}

/** @returns the stack, or `undefined` when there is none in the account and region */
export async function findStack(
  StackName: string,
  config: CloudFormationClientConfig = {},
): Promise<StageStack | undefined> {
  try {
    const { Stacks } = await new CloudFormation(config).describeStacks({ StackName });
    const { StackStatus = '', Outputs = [], Parameters = [] } = Stacks?.[0] ?? {};
    const outputs = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
    const parameters = Parameters.map(({ ParameterKey, ParameterValue }) => [ParameterKey, ParameterValue]);
    return {
      status: StackStatus,
      outputs: Object.fromEntries(outputs),
      parameters: Object.fromEntries(parameters),
    };
  } catch (error) {
    if (isStackMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an error of CloudFormation says that the stack does not exist. */
function isStackMissing(error: unknown): boolean {
  return error instanceof CloudFormationServiceException && error.name === 'ValidationError';
}

/** @returns why the stack of a stage takes no deploy in this status, and what to do; `undefined` when it takes one */
export function findObstacle(stage: string, status: string): string | undefined {
  const remedy = findRemedy(stage, status);
  return remedy && `The stack ${stackNameOf(stage)} is in ${status}. ${remedy}`;
}

function findRemedy(stage: string, status: string): string | undefined {
  const command = (action: string) => `aws cloudformation ${action} --stack-name ${stackNameOf(stage)}`;
  switch (status) {
    case 'CREATE_FAILED':
    case 'ROLLBACK_COMPLETE':
    case 'ROLLBACK_FAILED':
      return `Its first deploy failed. Delete what is left, and deploy again: ${command('delete-stack')}`;
    case 'REVIEW_IN_PROGRESS':
      return `A first deploy has begun, or ended too early. Unless it is under way: ${command('delete-stack')}`;
    case 'DELETE_FAILED':
      return `Its removal failed. Repeat it: npm run remove -- --stage ${stage}`;
    case 'UPDATE_ROLLBACK_FAILED':
      return `A rollback stopped midway. Continue it, and deploy again: ${command('continue-update-rollback')}`;
    default:
      return status.endsWith('_IN_PROGRESS')
        ? 'Somebody else deploys or removes it. Wait for the end.'
        : undefined;
  }
}
