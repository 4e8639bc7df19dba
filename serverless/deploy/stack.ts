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
    const values = Parameters.map(({ ParameterKey, ParameterValue }) => [ParameterKey, ParameterValue]);
    const parameters = Object.fromEntries(values);
    return { status: StackStatus, outputs: Object.fromEntries(outputs), parameters };
  } catch (error) {
    const isMissing = error instanceof CloudFormationServiceException && error.name === 'ValidationError';
    if (isMissing) return undefined;
    throw error;
  }
}

/** @returns why the stack of a stage takes no deploy in this status, and what to do; `undefined` when it takes one */
export function findObstacle(stage: string, status: string): string | undefined {
  const name = stackNameOf(stage);
  const command = (action: string) => `aws cloudformation ${action} --stack-name ${name}`;
  const firstFailed = `Its first deploy failed. Delete what is left, and deploy again: ${command('delete-stack')}`;
  const remedies: Readonly<Record<string, string>> = {
    CREATE_FAILED: firstFailed,
    ROLLBACK_COMPLETE: firstFailed,
    ROLLBACK_FAILED: firstFailed,
    REVIEW_IN_PROGRESS: `A first deploy has begun, or ended too early. Unless it is under way: ${command('delete-stack')}`,
    DELETE_FAILED: `Its removal failed. Repeat it: npm run remove -- --stage ${stage}`,
    UPDATE_ROLLBACK_FAILED: `A rollback stopped midway. Continue it, and deploy again: ${command('continue-update-rollback')}`,
  };
  const isBusy = status.endsWith('_IN_PROGRESS');
  const remedy = remedies[status] ?? (isBusy && 'Somebody else deploys or removes it. Wait for the end.');
  return remedy ? `The stack ${name} is in ${status}. ${remedy}` : undefined;
}
