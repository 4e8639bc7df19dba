import { CloudFormationClient, CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { expect, test, vi } from 'vitest';
import type { Outcome } from '../../../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../../../serverless/api-gateway/gateway-responses.ts';
import { findRollbackTriggers } from '../../../../serverless/deploy/rollback-triggers.ts';
import { findDeployment, findStack } from '../../../../serverless/deploy/stack.ts';
import UpdatePlugin from '../../../../serverless/deploy/update-plugin.ts';
import type { Serverless } from '../../../../serverless/framework-types.ts';

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

const refusal = (name: string) =>
  new CloudFormationServiceException({ name, message: name, $fault: 'client', $metadata: {} });

// A stage that cannot be read is not one that was never deployed: a first deploy asks and checks less.
test('only where CloudFormation says so, there is no stack', async () => {
  const send = vi.spyOn(CloudFormationClient.prototype, 'send');
  send.mockRejectedValue(refusal('ValidationError') as never);
  expect(await findStack('book-catalog-prod')).toBeUndefined();
  expect(await findDeployment('book-catalog-prod')).toBeUndefined();

  for (const error of [refusal('AccessDenied'), Object.assign(new Error(), { name: 'ValidationError' })]) {
    send.mockRejectedValue(error as never);
    await expect(findStack('book-catalog-prod')).rejects.toBe(error);
  }
});

test.each([
  ['prod', '', ['Nobody receives the alarms of prod: set alarmEmail in serverless/stages.yml.']],
  ['prod', 'oncall@example.com', []],
  ['alice', '', []],
])('a deploy of %s with the address "%s" for alarms ends with: %j', async (stage, alarmEmail, messages) => {
  const lines: string[] = [];
  const service = { custom: { parameters: { alarmEmail } } };
  const serverless = { getProvider: () => ({ getStage: () => stage }), service } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: (line) => lines.push(line) } });

  await hooks['after:deploy:deploy']?.();

  expect(lines).toEqual(messages);
});

test.each([
  [
    { code: 'ENOENT', path: '/clone/.serverless/serverless-state.json' },
    [expect.stringContaining('book-catalog-prod')],
  ],
  [{ code: 'ENOENT', path: '/clone/openapi.yaml' }, []],
  [{ code: 'EACCES', path: '/clone/.serverless/serverless-state.json' }, []],
])('only a command whose files in .serverless are gone names the stack to look at: %j', async (error, messages) => {
  const lines: string[] = [];
  const service = { service: 'book-catalog' };
  const serverless = { getProvider: () => ({ getStage: () => 'prod' }), service } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: (line) => lines.push(line) } });

  await hooks.error?.(Object.assign(new Error('gone'), error));

  expect(lines).toEqual(messages);
});

// Without it, CloudFormation would take the default in the template: the stack's own table.
test('a deploy keeps a restored table, also in a service with another name', async () => {
  const Stacks = [{ Parameters: [{ ParameterKey: 'RestoredTable', ParameterValue: 'library-prod-again' }] }];
  vi.spyOn(CloudFormationClient.prototype, 'send').mockImplementation(async ({ input }: { input: object }) => {
    if ('StackName' in input && input.StackName === 'library-prod') return { Stacks };
    throw refusal('ValidationError');
  });
  const provider = { stackParameters: [] };
  const serverless = {
    getProvider: () => ({ getStage: () => 'prod', getAwsSdkV3Config: async () => ({}) }),
    pluginManager: { plugins: [{ getCreateChangeSetParams: () => ({}) }] },
    service: { service: 'library', provider, custom: { parameters: {} } },
  } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: () => {} } });

  await hooks['before:aws:deploy:deploy:createStack']?.();

  expect(provider.stackParameters).toEqual([{ ParameterKey: 'RestoredTable', UsePreviousValue: true }]);
});

const Arn = 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:book-catalog-prod-RollbackAlarm-1';
const watch = { RollbackTriggers: [{ Arn, Type: 'AWS::CloudWatch::Alarm' }], MonitoringTimeInMinutes: 5 };
const none = { RollbackTriggers: [], MonitoringTimeInMinutes: 0 };

// A deploy with an alarm that is on would roll back its own fix.
test.each([
  ['OK', 5, watch],
  ['INSUFFICIENT_DATA', 5, watch],
  ['ALARM', 5, none],
  ['OK', 0, none],
])('an alarm in the state %s, watched for %i minutes, gives the triggers %j', async (StateValue, minutes, expected) => {
  vi.spyOn(CloudWatchClient.prototype, 'send').mockResolvedValue({ MetricAlarms: [{ StateValue }] } as never);
  const stack = { status: 'UPDATE_COMPLETE', outputs: { RollbackAlarm: Arn }, parameters: {}, tags: [] };

  expect(await findRollbackTriggers(stack, minutes, { region: 'eu-west-1' })).toEqual(expected);
});
