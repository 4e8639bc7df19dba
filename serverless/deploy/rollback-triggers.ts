import type { RollbackConfiguration } from '@aws-sdk/client-cloudformation';
import { CloudWatch, type CloudWatchClientConfig } from '@aws-sdk/client-cloudwatch';
import type { StageStack } from './stack.ts';

/** CloudFormation keeps the triggers of the update before unless this clears them. */
export const noRollbackTriggers: RollbackConfiguration = { RollbackTriggers: [], MonitoringTimeInMinutes: 0 };

/**
 * Finds the alarm that rolls back an update of a stack, its output `RollbackAlarm`. An alarm that is on already would roll
 * back its own fix, so it is left out.
 *
 * @param minutes - how long CloudFormation watches the alarm after the update; with 0 not at all
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
