import assert from 'node:assert/strict';
import { APIGateway } from '@aws-sdk/client-api-gateway';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { IAM } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { Session } from '../../../conformance/session.ts';
import { findDeployedStage } from '../../../tools/operations/deployed-stage.ts';
import type { EmulatedStage } from './emulated-stage.ts';

const name = 'alice';

/** Deploys a temporary stage beside prod, tests it, and removes it. Nothing of it may be left, nor of prod be gone. */
export async function deployAndRemove({ spawnFor, suiteOptions }: EmulatedStage): Promise<void> {
  const before = await listAccount();
  assert.ok(before.includes('table book-catalog-prod') && before.length > 30, before.join('\n'));

  assert.equal((await spawnFor(name, {}, 'deploy')).status, 0);
  const options = await suiteOptions(['books', 'token-endpoint'], name);
  assert.equal((await spawnFor(name, {}, 'smoke', ...options)).status, 0);
  await checkSeparation(suiteOptions);

  const { status, stderr } = await spawnFor(name, {}, 'remove');
  assert.equal(status, 0);
  assert.match(stderr, /The table and its books are deleted\./);
  assert.equal((await spawnFor(name, {}, 'remove')).status, 0, 'it cannot be removed twice');
  assert.deepEqual((await listAccount()).toSorted(), before.toSorted());
}

/** Checks that a token of one stage is refused by the other. */
async function checkSeparation(suiteOptions: EmulatedStage['suiteOptions']): Promise<void> {
  const open = async (stage: string) => {
    const [, baseUrl = '', , hostHeader = ''] = await suiteOptions([], stage);
    const { username, password } = await findDeployedStage(stage);
    return new Session({ baseUrl, hostHeader, username, password });
  };
  const [temporary, prod] = [await open(name), await open('prod')];
  try {
    const headers = { Authorization: await temporary.token() };
    const own = await temporary.send({ method: 'GET', path: '/books', headers });
    const other = await prod.send({ method: 'GET', path: '/books', headers });
    assert.deepEqual([own.status, other.status], [200, 401]);
  } finally {
    for (const session of [temporary, prod]) session.close();
  }
}

/** Everything in the account that a stage may make, as lines of type and name. */
async function listAccount(): Promise<readonly string[]> {
  const { StackSummaries = [] } = await new CloudFormation().listStacks();
  const stacks = StackSummaries.filter(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE');
  const { TableNames = [] } = await new DynamoDB().listTables();
  const { Functions = [] } = await new Lambda().listFunctions();
  const { Roles = [] } = await new IAM().listRoles();
  const { logGroups = [] } = await new CloudWatchLogs().describeLogGroups();
  const { SecretList = [] } = await new SecretsManager().listSecrets();
  const { items = [] } = await new APIGateway().getRestApis();
  const { cloudwatchRoleArn } = await new APIGateway().getAccount({});
  const { MetricAlarms = [] } = await new CloudWatch().describeAlarms();
  // The emulator lists dashboards with times that the SDK cannot read.
  const ofStages = ['prod', name].map((stage) => `book-catalog-${stage}`);
  const dashboards = await Promise.all(
    ofStages.map((DashboardName) =>
      new CloudWatch().getDashboard({ DashboardName }).then(
        () => [DashboardName],
        () => [],
      ),
    ),
  );
  const lists = {
    stack: stacks.map(({ StackName }) => StackName),
    table: TableNames,
    function: Functions.map(({ FunctionName }) => FunctionName),
    role: Roles.map(({ RoleName }) => RoleName),
    'log group': logGroups.map(({ logGroupName }) => logGroupName),
    secret: SecretList.map(({ Name }) => Name),
    api: items.map(({ name }) => name),
    'role of access logs': [cloudwatchRoleArn],
    alarm: MetricAlarms.map(({ AlarmName }) => AlarmName),
    dashboard: dashboards.flat(),
  };
  return Object.entries(lists).flatMap(([type, names]) => names.map((name) => `${type} ${name}`));
}
