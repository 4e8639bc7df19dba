import type { RollbackConfiguration } from '@aws-sdk/client-cloudformation';
import { CloudWatch, type CloudWatchClientConfig } from '@aws-sdk/client-cloudwatch';
import type { StageStack } from './stack.ts';

/** CloudFormation keeps the triggers of the update before unless this clears them. */
export const noRollbackTriggers: RollbackConfiguration = { RollbackTriggers: [], MonitoringTimeInMinutes: 0 };

/**
 * Finds the alarms that roll back an update of a stack: those in its output `ErrorAlarms`, without those that are on
 * already, which would roll back their own fix.
 *
 * @param minutes - how long CloudFormation watches the alarms after the update; with 0 there are no triggers
 */
export async function findRollbackTriggers(
  stack: StageStack | undefined,
  minutes: number,
  config: CloudWatchClientConfig,
): Promise<RollbackConfiguration> {
  const arns = (minutes > 0 && stack?.outputs.ErrorAlarms?.split(',')) || [];
  if (arns.length === 0) return noRollbackTriggers;
  const AlarmNames = arns.map((arn) => arn.slice(arn.lastIndexOf(':') + 1));
  const { MetricAlarms = [] } = await new CloudWatch(config).describeAlarms({ AlarmNames });
  const quiet = MetricAlarms.filter(({ StateValue }) => StateValue !== 'ALARM');
  return {
    RollbackTriggers: quiet.map(({ AlarmArn }) => ({ Arn: AlarmArn, Type: 'AWS::CloudWatch::Alarm' })),
    MonitoringTimeInMinutes: quiet.length === 0 ? 0 : minutes,
  };
}
