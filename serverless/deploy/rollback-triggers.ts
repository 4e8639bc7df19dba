import type { RollbackConfiguration } from '@aws-sdk/client-cloudformation';
import { CloudWatch, type CloudWatchClientConfig } from '@aws-sdk/client-cloudwatch';
import type { StageStack } from './stack.ts';

/** Clears the triggers. Without it, CloudFormation keeps those of the last update. */
export const noRollbackTriggers: RollbackConfiguration = { RollbackTriggers: [], MonitoringTimeInMinutes: 0 };

/**
 * Finds the alarm that rolls back an update of a stack: its output `RollbackAlarm`. An alarm that is already on is left
 * out, because it would roll back its own fix.
 *
 * @param minutes - how long CloudFormation watches the alarm after the update. 0 turns the rollback off.
 */
export async function findRollbackTriggers(
  stack: StageStack | undefined,
  minutes: number,
  config: CloudWatchClientConfig,
): Promise<RollbackConfiguration> {
  const Arn = stack?.outputs.RollbackAlarm;
  if (Arn === undefined || minutes === 0) return noRollbackTriggers;
  const AlarmNames = [Arn.slice(Arn.lastIndexOf(':') + 1)];
  const { MetricAlarms: [alarm] = [] } = await new CloudWatch(config).describeAlarms({ AlarmNames });
  if (alarm?.StateValue === 'ALARM') return noRollbackTriggers;
  return { RollbackTriggers: [{ Arn, Type: 'AWS::CloudWatch::Alarm' }], MonitoringTimeInMinutes: minutes };
}
