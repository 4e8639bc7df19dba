import { setTimeout as wait } from 'node:timers/promises';
import { CloudWatch, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { SNS, type Subscription } from '@aws-sdk/client-sns';
import { stackNameOf } from '../../serverless/deploy/stack.ts';
import { reportStageError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { readOutputs } from '../smoke/deployed-stage.ts';

const usage = `Usage: npm run drill -- --stage STAGE [--alarm NAME] [--region REGION]

Raises an alarm of a stage, TableErrorsAlarm by default, and waits until CloudWatch has set it to OK again. Says who is
told: each confirmed subscriber of the alarms' topic gets two messages. Changes nothing else.
Exit code: 0 when somebody is told and the alarm is OK again, 1 when not, 2 for wrong usage.`;

const pollMs = 5_000;
const maxWaitMs = 15 * 60_000;

process.exitCode = await main().catch(reportStageError);

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseOptions(usage, {
    stage: text,
    region: text,
    alarm: { ...text, default: 'TableErrorsAlarm' },
  });
  const { stage = endWithAdvice('--stage is needed.'), region, alarm } = values;
  selectTarget(stage, region);
  const isTold = await checkSubscribers(stage);
  const isOver = await raise(stage, alarm);
  return isTold && isOver ? 0 : 1;
}

/** @returns whether the topic has a confirmed subscriber */
async function checkSubscribers(stage: string): Promise<boolean> {
  const { AlarmTopic: TopicArn } = await readOutputs(stage);
  const { Subscriptions = [] } = await new SNS().listSubscriptionsByTopic({ TopicArn });
  const isConfirmed = ({ SubscriptionArn = '' }: Subscription) => SubscriptionArn.startsWith('arn:');
  for (const subscription of Subscriptions) {
    const reason = 'the link in the mail of AWS has not been followed';
    const state = isConfirmed(subscription) ? 'is told' : `is not told: ${reason}`;
    console.log(`${subscription.Endpoint} (${subscription.Protocol}) ${state}`);
  }
  if (Subscriptions.some(isConfirmed)) return true;
  console.error('No alarm reaches anybody: set alarmEmail, deploy, and follow the link in the mail of AWS.');
  return false;
}

/** @returns whether the alarm was set to OK again */
async function raise(stage: string, logicalId: string): Promise<boolean> {
  const { AlarmName, StateValue } = await findAlarm(stage, logicalId);
  if (StateValue === 'ALARM') throw new StageError(`${AlarmName} is on already.`);
  const StateReason = 'A drill. It ends by itself.';
  await new CloudWatch().setAlarmState({ AlarmName, StateValue: 'ALARM', StateReason });
  const startedAt = Date.now();
  console.log(`${AlarmName} is on. CloudWatch sets it to OK when it looks at its metrics the next time.`);
  while (Date.now() - startedAt < maxWaitMs) {
    await wait(pollMs);
    if ((await findAlarm(stage, logicalId)).StateValue !== 'OK') continue;
    console.log(`${AlarmName} is OK again after ${Math.round((Date.now() - startedAt) / 1000)} s.`);
    return true;
  }
  console.error(`${AlarmName} is not OK after ${maxWaitMs / 60_000} minutes. Set it by hand, and report this:
aws cloudwatch set-alarm-state --alarm-name ${AlarmName} --state-value OK --state-reason drill`);
  return false;
}

async function findAlarm(stage: string, logicalId: string): Promise<MetricAlarm> {
  const AlarmNamePrefix = `${stackNameOf(stage)}-${logicalId}-`;
  const { MetricAlarms: [alarm] = [] } = await new CloudWatch().describeAlarms({ AlarmNamePrefix });
  if (alarm !== undefined) return alarm;
  throw new StageError(`Stage ${stage} has no ${logicalId}. docs/operations.md, "Alarms", names them.`);
}
