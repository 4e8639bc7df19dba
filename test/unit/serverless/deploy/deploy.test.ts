import { CloudFormationClient, CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { describe, expect, test, vi } from 'vitest';
import type { Outcome } from '../../../../lib/http/outcomes.ts';
import { findStack, findVersion } from '../../../../serverless/deploy/stack.ts';
import UpdatePlugin from '../../../../serverless/deploy/update-plugin.ts';
import type { Serverless } from '../../../../serverless/framework.ts';
import { gatewayResponses } from '../../../../serverless/gateway-responses.ts';

test('each gateway response after which a client may try again says when', () => {
  const responses: readonly Outcome[] = Object.values(gatewayResponses);
  const delays = responses.map(({ status, headers }) => [status, headers?.['Retry-After']]);

  expect(delays.filter(([, delay]) => delay)).toEqual([
    [429, '1'],
    [429, '60'],
    [504, '1'],
    [502, '1'],
  ]);
});

/** Answers requests to CloudFormation, by the names of their commands. */
const stubCloudFormation = (respond: (name: string) => object) =>
  vi
    .spyOn(CloudFormationClient.prototype, 'send')
    .mockImplementation((async (command: object) => respond(command.constructor.name)) as never);

const refusal = (name: string) =>
  new CloudFormationServiceException({ name, message: name, $fault: 'client', $metadata: {} });

test('a stack is read with its status, outputs, parameters and tags', async () => {
  const Tags = [{ Key: 'STAGE', Value: 'prod' }];
  const Outputs = [{ OutputKey: 'BookTableName', OutputValue: 'books' }];
  const Parameters = [{ ParameterKey: 'RestoredTable', ParameterValue: 'books-1' }];
  stubCloudFormation(() => ({ Stacks: [{ StackStatus: 'UPDATE_COMPLETE', Outputs, Parameters, Tags }] }));

  expect(await findStack('book-catalog-prod')).toEqual({
    status: 'UPDATE_COMPLETE',
    outputs: { BookTableName: 'books' },
    parameters: { RestoredTable: 'books-1' },
    tags: Tags,
  });
});

// A stage that cannot be read is not one that was never deployed: a first deploy asks and checks less.
test('only where CloudFormation says so, there is no stack', async () => {
  const send = stubCloudFormation(() => {
    throw refusal('ValidationError');
  });
  expect(await findStack('book-catalog-prod')).toBeUndefined();
  expect(await findVersion('book-catalog-prod')).toBeUndefined();

  for (const error of [refusal('AccessDenied'), Object.assign(new Error(), { name: 'ValidationError' })]) {
    send.mockRejectedValue(error as never);
    await expect(findStack('book-catalog-prod')).rejects.toBe(error);
  }
});

test('the version that a stack runs is in the keys of its artifacts', async () => {
  const key = 'serverless/book-catalog/prod/1795252492369-2026-11-20T21:14:52.369Z/getBook.zip';
  stubCloudFormation((name) =>
    name === 'GetTemplateCommand'
      ? { TemplateBody: JSON.stringify({ S3Key: key }) }
      : { Stacks: [{ StackStatus: 'UPDATE_COMPLETE' }] },
  );

  expect(await findVersion('book-catalog-prod')).toBe('1795252492369');

  stubCloudFormation(() => ({ Stacks: [{ StackStatus: 'CREATE_COMPLETE' }] }));
  expect(await findVersion('book-catalog-prod')).toBeUndefined();
});

/** The plugin in a project with a stage, and the lines that it prints. */
function openPlugin(stage: string, service: object = {}, plugins: readonly object[] = []) {
  const lines: string[] = [];
  const aws = { getStage: () => stage, getAwsSdkV3Config: async () => ({ region: 'eu-west-1' }) };
  const serverless = { getProvider: () => aws, service, pluginManager: { plugins } } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: (line) => lines.push(line) } });
  return { hooks, lines };
}

const kept = [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }];

test('a rollback is not watched, and keeps the table of the stage', async () => {
  const provider = {};
  const { hooks } = openPlugin('prod', { provider });

  await hooks['before:rollback:rollback']?.();

  expect(provider).toEqual({
    rollbackConfiguration: { RollbackTriggers: [], MonitoringTimeInMinutes: 0 },
    stackParameters: kept,
  });
});

test.each([
  ['prod', 'The table and its books are kept; the next deploy of this stage uses them.'],
  ['alice', 'The table and its books are deleted.'],
])('a removal of %s ends with: %s', async (stage, message) => {
  const { hooks, lines } = openPlugin(stage);

  await hooks['after:remove:remove']?.();

  expect(lines).toEqual([message]);
});

test.each([
  ['prod', '', ['Nobody receives the alarms of prod: set alarmEmail in serverless/stages.yml.']],
  ['prod', 'oncall@example.com', []],
  ['alice', '', []],
])('a deploy of %s with the address "%s" for alarms ends with: %j', async (stage, alarmEmail, messages) => {
  const { hooks, lines } = openPlugin(stage, { custom: { parameters: { alarmEmail } } });

  await hooks['after:deploy:deploy']?.();

  expect(lines).toEqual(messages);
});

describe('before an update', () => {
  const Arn = 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:book-catalog-prod-RollbackAlarm-1';
  const watch = { RollbackTriggers: [{ Arn, Type: 'AWS::CloudWatch::Alarm' }], MonitoringTimeInMinutes: 5 };
  const none = { RollbackTriggers: [], MonitoringTimeInMinutes: 0 };

  // A deploy with an alarm that is on would roll back its own fix.
  test.each([
    ['OK', 5, watch],
    ['INSUFFICIENT_DATA', 5, watch],
    ['ALARM', 5, none],
    ['OK', 0, none],
  ])('an alarm in the state %s, watched for %i minutes', async (StateValue, minutes, expected) => {
    const { provider } = await prepareUpdate({ StateValue, minutes, outputs: [['RollbackAlarm', Arn]] });

    expect(provider.rollbackConfiguration).toEqual(expected);
  });

  test('a stack without the alarm, such as a new one, is not watched', async () => {
    const { provider } = await prepareUpdate({ StateValue: 'OK', minutes: 5, outputs: [] });

    expect(provider.rollbackConfiguration).toEqual(none);
  });

  // CloudFormation would take the default of the parameter, which is the stack's own table.
  test.each([
    ['an update', ['RestoredTable'], kept],
    ['the first deploy', [], undefined],
  ])('%s of a stack with the parameters %j', async (_, parameters, stackParameters) => {
    const { provider } = await prepareUpdate({ StateValue: 'OK', minutes: 5, outputs: [], parameters });

    expect(provider.stackParameters).toEqual(stackParameters);
  });

  // The removal of a stage leaves its table, whose name the next deploy of the stage needs.
  test('a change set adopts an existing table', async () => {
    const { changeSets } = await prepareUpdate({ StateValue: 'OK', minutes: 5, outputs: [] });

    expect(changeSets.map((plugin) => plugin.getCreateChangeSetParams({ name: 'x' }))).toEqual(
      Array(2).fill({ name: 'x', ImportExistingResources: true }),
    );
  });

  /** Runs what precedes an update of a stack. */
  async function prepareUpdate(stage: {
    readonly StateValue: string;
    readonly minutes: number;
    readonly outputs: readonly (readonly [string, string])[];
    readonly parameters?: readonly string[];
  }) {
    const Outputs = stage.outputs.map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
    const Parameters = stage.parameters?.map((ParameterKey) => ({ ParameterKey, ParameterValue: '' }));
    const answers: Readonly<Record<string, object>> = {
      DescribeStacksCommand: { Stacks: [{ StackStatus: 'UPDATE_COMPLETE', Outputs, Parameters }] },
      DescribeAlarmsCommand: { MetricAlarms: [{ StateValue: stage.StateValue }] },
    };
    const send = async (command: object) => answers[command.constructor.name];
    for (const { prototype } of [CloudFormationClient, CloudWatchClient]) {
      vi.spyOn(prototype, 'send').mockImplementation(send as never);
    }
    const changeSets = [1, 2].map(() => ({ getCreateChangeSetParams: (options: object) => options }));
    const provider: { rollbackConfiguration?: object; stackParameters?: object } = {};
    const custom = { parameters: { monitoringMinutes: stage.minutes } };
    const { hooks } = openPlugin('prod', { provider, custom }, changeSets);
    await hooks['before:aws:deploy:deploy:createStack']?.();
    return { provider, changeSets };
  }
});
