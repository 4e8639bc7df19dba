import {
  CloudFormation,
  waitUntilChangeSetCreateComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { noRollbackTriggers } from '../../serverless/deploy/rollback-triggers.ts';
import { findStack, type StageStack, stackNameOf } from '../../serverless/deploy/stack.ts';
import { StageError } from '../../serverless/deploy/target.ts';

const seconds = { minDelay: 2, maxDelay: 5, maxWaitTime: 1_800 };

/**
 * Makes the functions of a stage use a table, by an update of its stack that changes nothing else. Nothing rolls it back
 * but a failure: an alarm may be the reason for it.
 *
 * @throws {StageError} when CloudFormation has rolled the update back
 */
export async function switchStack(stage: string, stack: StageStack, table: string): Promise<void> {
  const client = new CloudFormation();
  const name = { StackName: stackNameOf(stage), ChangeSetName: `switch-${Date.now()}` };
  const RestoredTable = table === name.StackName ? '' : table; // empty for the stack's own
  await client.createChangeSet({
    ...name,
    UsePreviousTemplate: true,
    Parameters: Object.keys(stack.parameters).map((ParameterKey) =>
      ParameterKey === 'RestoredTable'
        ? { ParameterKey, ParameterValue: RestoredTable }
        : { ParameterKey, UsePreviousValue: true },
    ),
    Tags: [...stack.tags],
    Capabilities: ['CAPABILITY_IAM'],
    ImportExistingResources: true, // the way back: the stack takes its own table in again
    RollbackConfiguration: noRollbackTriggers,
  });
  await waitUntilChangeSetCreateComplete({ client, ...seconds }, name);
  await client.executeChangeSet(name);
  await waitUntilStackUpdateComplete({ client, ...seconds }, name).catch(async (cause: Error) => {
    const now = await findStack(name.StackName);
    const state = `${name.StackName} is in ${now?.status}, and the stage uses ${now?.outputs.BookTableName}`;
    throw new StageError(`The switch failed: ${state}. The same command tries again.`, { cause });
  });
}
