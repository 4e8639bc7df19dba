import {
  CloudFormation,
  type CloudFormationClientConfig,
  CloudFormationServiceException,
  type RollbackConfiguration,
} from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';

/** CloudFormation keeps the triggers of the update before unless this clears them. */
export const noRollbackTriggers: RollbackConfiguration = { RollbackTriggers: [], MonitoringTimeInMinutes: 0 };

/**
 * Finds the alarms that roll back an update of a stack: those in its output `ErrorAlarms`, without those that are on
 * already, which would roll back their own fix.
 *
 * @param minutes - how long CloudFormation watches the alarms after the update; with 0 there are no triggers
 */
export async function findRollbackTriggers(
  stackName: string,
  minutes: number,
  config: CloudFormationClientConfig,
): Promise<RollbackConfiguration> {
  const arns = minutes === 0 ? [] : await findErrorAlarms(stackName, config);
  if (arns.length === 0) return noRollbackTriggers;
  const AlarmNames = arns.map((arn) => arn.slice(arn.lastIndexOf(':') + 1));
  const { MetricAlarms = [] } = await new CloudWatch(config).describeAlarms({ AlarmNames });
  const quiet = MetricAlarms.filter(({ StateValue }) => StateValue !== 'ALARM');
  return {
    RollbackTriggers: quiet.map(({ AlarmArn }) => ({ Arn: AlarmArn, Type: 'AWS::CloudWatch::Alarm' })),
    MonitoringTimeInMinutes: quiet.length === 0 ? 0 : minutes,
  };
}

async function findErrorAlarms(StackName: string, config: CloudFormationClientConfig): Promise<string[]> {
  try {
    const { Stacks } = await new CloudFormation(config).describeStacks({ StackName });
    const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'ErrorAlarms');
    return output?.OutputValue?.split(',') ?? [];
  } catch (error) {
    if (error instanceof CloudFormationServiceException && error.name === 'ValidationError') return [];
    throw error;
  }
}
