import {
  CloudFormation,
  waitUntilChangeSetCreateComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { ParameterNotFound, SSM } from '@aws-sdk/client-ssm';
import { noRollbackTriggers } from '../../serverless/deploy/rollback-triggers.ts';
import { settingsPath } from '../../serverless/deploy/settings.ts';
import { findObstacle, findStack, type StageStack, stackNameOf } from '../../serverless/deploy/stack.ts';
import { StageError } from '../../serverless/deploy/target.ts';

const seconds = { minDelay: 2, maxDelay: 5, maxWaitTime: 1_800 };

/**
 * Makes the functions of a stage use a table, by an update of its stack that changes nothing else. Nothing rolls it back
 * but a failure: an alarm may be the reason for it.
 *
 * @param beforeUpdate - runs when all is ready for the update, which begins directly after it
 * @throws {StageError} when CloudFormation has rolled the update back
 */
export async function switchStack(
  stage: string,
  stack: StageStack,
  table: string,
  beforeUpdate: () => Promise<void>,
): Promise<void> {
  const obstacle = findObstacle(stage, stack.status);
  if (obstacle !== undefined) throw new StageError(obstacle);
  const client = new CloudFormation();
  const name = { StackName: stackNameOf(stage), ChangeSetName: `switch-${Date.now()}` };
  await client.createChangeSet({
    ...name,
    UsePreviousTemplate: true,
    Parameters: Object.keys(stack.parameters).map((ParameterKey) =>
      ParameterKey === 'RestoredTable'
        ? { ParameterKey, ParameterValue: toParameter(stage, table) }
        : { ParameterKey, UsePreviousValue: true },
    ),
    Tags: [...stack.tags],
    Capabilities: ['CAPABILITY_IAM'],
    ImportExistingResources: true, // the way back: the stack takes its own table in again
    RollbackConfiguration: noRollbackTriggers,
  });
  await waitUntilChangeSetCreateComplete({ client, ...seconds }, name);
  await beforeUpdate();
  await client.executeChangeSet(name);
  await waitUntilStackUpdateComplete({ client, ...seconds }, name).catch(async (cause: Error) => {
    const now = await findStack(name.StackName);
    const state = `${name.StackName} is in ${now?.status}, and the stage uses ${now?.outputs.BookTableName}`;
    throw new StageError(`The switch failed: ${state}. The same command tries again.`, { cause });
  });
}

/** Writes the setting `tableName` for the deploys that follow, or deletes it for the stack's own table. */
export async function writeTableSetting(stage: string, table: string): Promise<void> {
  const Name = `${settingsPath(stage)}/tableName`;
  const Value = toParameter(stage, table);
  if (Value !== '') {
    await new SSM().putParameter({ Name, Value, Type: 'String', Overwrite: true });
    return;
  }
  await new SSM().deleteParameter({ Name }).catch((error) => {
    if (!(error instanceof ParameterNotFound)) throw error;
  });
}

/** @returns what the stack's parameter and the setting are for a table: nothing for the stack's own */
function toParameter(stage: string, table: string): string {
  return table === stackNameOf(stage) ? '' : table;
}
