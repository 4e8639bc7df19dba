import { CloudFormationClient, CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { describe, expect, test, vi } from 'vitest';
import type { Outcome } from '../../../../lib/http/outcomes.ts';
import { findDomainConflict, findObstacle, findStack, findVersion } from '../../../../serverless/deploy/stack.ts';
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

test.each([
  ['REVIEW_IN_PROGRESS', 'npm run remove -- --stage prod'],
  ['ROLLBACK_COMPLETE', 'delete-stack --stack-name book-catalog-prod'],
  ['ROLLBACK_FAILED', 'delete-stack --stack-name book-catalog-prod'],
  ['DELETE_FAILED', 'npm run remove -- --stage prod'],
  ['UPDATE_ROLLBACK_FAILED', 'continue-update-rollback --stack-name book-catalog-prod'],
])('a stack in %s takes no deploy, and what to do ends with: %s', (status, end) => {
  expect(findObstacle('prod', status)?.endsWith(end)).toBe(true);
});

test.each(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE'])(
  'a stack in %s takes a deploy',
  (status) => {
    expect(findObstacle('prod', status)).toBeUndefined();
  },
);

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

describe('a stage with a domain name', () => {
  const values = { domainName: 'api.example.com', certificateArn: 'arn:aws:acm:1', hostedZoneId: 'Z1' };
  const outputs = {
    ServiceEndpoint: 'https://api.example.com',
    ExecuteApiEndpoint: 'https://a1.execute-api.eu-west-1.amazonaws.com/prod',
    CertificateArn: values.certificateArn,
    HostedZoneId: values.hostedZoneId,
  };
  const stack = { status: 'UPDATE_COMPLETE', outputs, parameters: {}, tags: [] };
  const none = { domainName: '', certificateArn: '', hostedZoneId: '' };
  const put = (name: keyof typeof values) =>
    `\n  aws ssm put-parameter --type String --name /book-catalog/prod/${name} --value ${values[name]}`;

  test('takes a deploy with its settings, or with another domain', () => {
    expect(findDomainConflict('prod', stack, values, [])).toBeUndefined();
    expect(findDomainConflict('prod', stack, { ...values, domainName: 'new.example.com' }, [])).toBeUndefined();
  });

  test('takes no deploy without its settings, and the refusal says how to set them again', () => {
    const all = 'domainName, certificateArn, hostedZoneId';
    expect(findDomainConflict('prod', stack, none, [])).toBe(
      `The stage has the domain name api.example.com, and these settings are lost: ${all}.\nTo keep the domain:` +
        `${put('domainName')}${put('certificateArn')}${put('hostedZoneId')}\n` +
        'To give it up: npm run deploy -- --stage prod --unset domainName --unset certificateArn --unset hostedZoneId',
    );
  });

  // The deploy would delete the record, and the domain could not be found any more.
  test('takes no deploy without the zone of its record', () => {
    expect(findDomainConflict('prod', stack, { ...values, hostedZoneId: '' }, [])).toBe(
      `The stage has the domain name api.example.com, and these settings are lost: hostedZoneId.\nTo keep the domain:` +
        `${put('hostedZoneId')}\nTo give it up: npm run deploy -- --stage prod --unset hostedZoneId`,
    );
  });

  test('takes a deploy that leaves them out on purpose', () => {
    expect(findDomainConflict('prod', stack, none, Object.keys(values))).toBeUndefined();
  });

  test('is not one whose address is that of AWS', () => {
    const ofAws = { ...stack, outputs: { ServiceEndpoint: outputs.ExecuteApiEndpoint } };
    expect(findDomainConflict('prod', ofAws, none, [])).toBeUndefined();
  });
});

test('the list of deploys, with which a rollback begins, is shown whatever the state of the stack is', async () => {
  const getProvider = () => {
    throw new Error('AWS was asked');
  };
  const serverless = { processedInput: { commands: ['deploy', 'list'] }, getProvider } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: () => {} } });

  await expect(hooks.initialize?.()).resolves.toBeUndefined();
});

describe('a rollback', () => {
  /** The plugin of a rollback of a stage with this stack. */
  function openRollback(stack: object) {
    stubCloudFormation(() => ({ Stacks: [stack] }));
    const aws = { getStage: () => 'prod', getAwsSdkV3Config: async () => ({ region: 'eu-west-1' }) };
    const provider = {};
    const serverless = {
      classes: { Error },
      processedInput: { commands: ['rollback'] },
      getProvider: () => aws,
      service: { provider, custom: { stage: { endpointAccessMode: '' } } },
    } as unknown as Serverless;
    return { ...new UpdatePlugin(serverless, {}, { log: { notice: () => {} } }), provider };
  }

  test('is refused where a deploy would be', async () => {
    const { hooks } = openRollback({ StackStatus: 'UPDATE_ROLLBACK_FAILED' });

    await expect(hooks.initialize?.()).rejects.toThrow('The stack book-catalog-prod is in UPDATE_ROLLBACK_FAILED.');
  });

  test('keeps the table of the stage', async () => {
    const Outputs = [{ OutputKey: 'BookTableName', OutputValue: 'book-catalog-prod-1' }];
    const { hooks, provider } = openRollback({ StackStatus: 'UPDATE_COMPLETE', Outputs });

    await hooks.initialize?.();
    await hooks['before:rollback:rollback']?.();

    expect(provider).toEqual({
      rollbackConfiguration: { RollbackTriggers: [], MonitoringTimeInMinutes: 0 },
      stackParameters: [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }],
    });
  });
});

test.each([
  [true, 'The table and its books are kept; the next deploy of this stage uses them.'],
  ['false', 'The table and its books are deleted.'],
])('a removal with the deletion protection %j ends with: %s', async (deletionProtection, message) => {
  const lines: string[] = [];
  const serverless = { service: { custom: { stage: { deletionProtection } } } } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: (line) => lines.push(line) } });

  await hooks['after:remove:remove']?.();

  expect(lines).toEqual([message]);
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

  // After a rollback, the running version may be older than those that the framework keeps.
  test('the clean-up of artifacts keeps those of the running version, and no others', async () => {
    const { cleanup } = await prepareUpdate({ StateValue: 'OK', minutes: 5, outputs: [] });

    const removed = await cleanup.getObjectsToRemove();
    expect(removed.map(({ Key }) => Key)).toEqual([keyOf('1790000000000'), keyOf('1790000000001')]);
  });

  // The removal of a stage leaves its table, whose name the next deploy of the stage needs.
  test('a change set adopts an existing table', async () => {
    const { changeSets } = await prepareUpdate({ StateValue: 'OK', minutes: 5, outputs: [] });

    expect(changeSets.map((plugin) => plugin.getCreateChangeSetParams({ name: 'x' }))).toEqual(
      Array(2).fill({ name: 'x', ImportExistingResources: true }),
    );
  });

  test.each([
    [
      'an update keeps the table of the stage',
      ['RestoredTable'],
      [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }],
    ],
    ['the first one has none to keep', [], undefined],
  ])('%s', async (_, parameters, expected) => {
    const { provider } = await prepareUpdate({ StateValue: 'OK', minutes: 5, outputs: [], parameters });

    expect(provider.stackParameters).toEqual(expected);
  });

  const keyOf = (version: string) => `serverless/book-catalog/prod/${version}-2026-09-21/createBook.zip`;

  /** Runs what precedes an update of a stack that runs the version 1795252492369. */
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
      GetTemplateCommand: { TemplateBody: `{"S3Key": "${keyOf('1795252492369')}"}` },
      DescribeAlarmsCommand: { MetricAlarms: [{ StateValue: stage.StateValue }] },
    };
    const send = async (command: object) => answers[command.constructor.name];
    for (const { prototype } of [CloudFormationClient, CloudWatchClient]) {
      vi.spyOn(prototype, 'send').mockImplementation(send as never);
    }
    const versions = ['1790000000000', '1795252492369', '1790000000001'];
    const cleanup = { getObjectsToRemove: async () => versions.map((version) => ({ Key: keyOf(version) })) };
    const changeSets = [1, 2].map(() => ({ getCreateChangeSetParams: (options: object) => options }));
    const provider: { rollbackConfiguration?: object; stackParameters?: object } = {};
    const aws = { getStage: () => 'prod', getAwsSdkV3Config: async () => ({ region: 'eu-west-1' }) };
    const serverless = {
      getProvider: () => aws,
      service: { provider, custom: { stage: { monitoringMinutes: stage.minutes } } },
      pluginManager: { plugins: [cleanup, ...changeSets] },
    } as unknown as Serverless;
    const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: () => {} } });
    await hooks['before:aws:deploy:deploy:createStack']?.();
    return { provider, cleanup, changeSets };
  }
});
