import assert from 'node:assert/strict';
import { APIGateway } from '@aws-sdk/client-api-gateway';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { findStack } from '../../../serverless/deploy/stack.ts';
import { findDeployedStage } from '../../../tools/operations/deployed-stage.ts';
import { checkBoundary } from './boundary.ts';
import { type EmulatedStage, findResources, StackName, stage } from './emulated-stage.ts';

/** How often the end of a rollback is kept from the framework; in AWS it takes minutes. */
const pollsWithoutEnd = 2;

/**
 * Deploys, and runs the smoke test, as the pipeline does, and the conformance suite.
 *
 * @param triggers - the alarms that have to roll the update back
 * @param groups - those of the suite's cases to run; all by default
 */
export async function deployAndTest(
  emulated: EmulatedStage,
  triggers: readonly string[],
  groups: readonly string[],
): Promise<void> {
  const { stderr } = await emulated.run('deploy');
  assert.match(stderr, /^Account 000000000000, region eu-west-1, stage prod$/m);
  checkTriggers(emulated, triggers);
  assert.equal((await emulated.smoke()).status, 0);
  assert.equal((await emulated.runSuite(groups)).status, 0);
}

/** Checks the rollback triggers of the last update. */
export function checkTriggers({ changeSets }: EmulatedStage, expected: readonly string[]): void {
  const isTrigger = (name: string) => /^RollbackConfiguration\..*\.Arn$/.test(name);
  const arns = [...(changeSets.at(-1) ?? [])].filter(([name]) => isTrigger(name)).map(([, arn]) => arn);
  const names = arns.map((arn) => arn.replace(/.*:alarm:book-catalog-prod-([A-Za-z]+)-.*/, '$1'));
  assert.deepEqual(names, expected);
  const minutes = changeSets.at(-1)?.get('RollbackConfiguration.MonitoringTimeInMinutes');
  assert.equal(minutes, expected.length === 0 ? '0' : '5');
}

/** Checks what the parameters cause, and the boundary. */
export async function checkSettings(settings: { readonly corsOrigin: string; readonly tokenLifetime: string }) {
  const { corsOrigin, tokenLifetime } = await findDeployedStage(stage);
  assert.deepEqual([corsOrigin, `${tokenLifetime}`], [settings.corsOrigin, settings.tokenLifetime]);
  assert.equal((await findResources('AWS::SNS::Subscription')).length, 1);
  await checkBoundary();
}

/** Checks that what the framework does after a deploy has not taken away the access log or tags. */
export async function checkAccessLog(): Promise<void> {
  const logGroupNamePrefix = '/aws/api-gateway/';
  const { logGroups = [] } = await new CloudWatchLogs().describeLogGroups({ logGroupNamePrefix });
  const found = logGroups.map(({ logGroupName, retentionInDays }) => [logGroupName, retentionInDays]);
  assert.deepEqual(found, [['/aws/api-gateway/book-catalog-prod-access', 90]]);
  const [restApiId] = await findResources('AWS::ApiGateway::RestApi');
  const { tags } = await new APIGateway().getStage({ restApiId, stageName: stage });
  assert.deepEqual([tags?.SERVICE, tags?.STAGE], ['book-catalog', stage]);
}

/** Deploys a version with a wrong response, and goes back to the one before. */
export async function rollBack(emulated: EmulatedStage): Promise<void> {
  const { run, project, smoke, findDeployment } = emulated;
  const goodDeployment = await findDeployment();
  const restoreText = project.replace('handlers/delete-book.ts', 'Book deleted successfully', 'Book deleted');
  await run('deploy');
  assert.equal((await smoke()).status, 1);
  restoreText();
  const badDeployment = await findDeployment();
  const list = (await run('rollback')).stdout;
  for (const timestamp of [goodDeployment, badDeployment]) assert.ok(list.includes(`Timestamp: ${timestamp}`), list);
  await run('rollback', '--timestamp', goodDeployment);
  assert.equal(await findDeployment(), goodDeployment);
  checkTriggers(emulated, []); // nothing rolls a rollback back
  assert.equal((await smoke()).status, 0);
}

export async function fixWithAlarmOn(emulated: EmulatedStage): Promise<void> {
  const alarms = await findResources('AWS::CloudWatch::Alarm');
  const AlarmName = alarms.find((name) => name.includes('RollbackAlarm'));
  await new CloudWatch().setAlarmState({ AlarmName, StateValue: 'ALARM', StateReason: 'a test' });
  await emulated.run('deploy', '--force');
  checkTriggers(emulated, []);
}

/** Deploys an alarm that the emulator refuses. */
export async function failToDeploy({ project, fates, spawn }: EmulatedStage): Promise<void> {
  const restoreText = project.replace('serverless/resources/alarms.js', 'Metrics, ...others', '...others');
  let polls = 0;
  fates.set('DescribeStackEvents', () => (text) => {
    if (polls === pollsWithoutEnd) return text;
    if (text.includes('UPDATE_ROLLBACK_COMPLETE<')) polls += 1;
    return text.replaceAll(/<member>(?:(?!<\/member>).)*UPDATE_ROLLBACK_COMPLETE<.*?<\/member>/gs, '');
  });
  assert.equal((await spawn('deploy')).status, 1);
  fates.delete('DescribeStackEvents');
  restoreText();
  assert.equal(polls, pollsWithoutEnd, 'the deploy ends before the rollback');
  assert.equal((await findStack(StackName))?.status, 'UPDATE_ROLLBACK_COMPLETE');
}

/** Makes CloudFormation say that the stack is in another state. */
export function withStatus(status: string): (text: string) => string {
  return (text) => text.replace(/<StackStatus>\w+/, `<StackStatus>${status}`);
}
