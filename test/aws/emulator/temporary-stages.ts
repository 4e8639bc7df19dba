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
import { checkBoundary } from './boundary.ts';
import { checkPatternLimits, createDeployer } from './deployer.ts';
import type { EmulatedStage } from './emulated-stage.ts';

/**
 * Deploys the stage of a person and that of a pull request beside prod, tests both, and removes them. Nothing of them may
 * be left, nor of prod be gone.
 */
export async function deployAndRemoveTwoStages({ spawnFor, smokeOptions }: EmulatedStage): Promise<void> {
  const ofPattern = await createDeployer('pr-*');
  await checkPatternLimits();
  const deployers = { alice: {}, 'pr-12': ofPattern };
  const before = await listAccount();
  assert.ok(before.includes('table book-catalog-prod') && before.length > 30, before.join('\n'));

  for (const [stage, credentials] of Object.entries(deployers)) {
    assert.equal((await spawnFor(stage, credentials, 'deploy')).status, 0, `${stage} is not deployed`);
  }
  await checkBoundary('book-catalog-pr-12', 'pr');
  for (const [stage, credentials] of Object.entries(deployers)) {
    const options = await smokeOptions(['books', 'token-endpoint'], stage);
    const { status, stdout } = await spawnFor(stage, credentials, 'smoke', ...options);
    assert.equal(status, 0, `${stage} fails`);
    assert.doesNotMatch(stdout, /has no deletion protection/);
  }
  await checkSeparation(smokeOptions);

  for (const [stage, credentials] of Object.entries(deployers)) {
    const { status, stderr } = await spawnFor(stage, credentials, 'remove');
    assert.equal(status, 0, `${stage} is not removed`);
    assert.match(stderr, /The table and its books are deleted\./);
    // As when a pull request is closed, whose last run has removed it.
    assert.equal((await spawnFor(stage, credentials, 'remove')).status, 0, `${stage} cannot be removed twice`);
  }
  const after = await listAccount();
  assert.deepEqual(
    after.filter((resource) => !before.includes(resource)),
    [],
  );
  assert.deepEqual(
    before.filter((resource) => !after.includes(resource)),
    [],
  );
}

/** Checks that a token of one stage is refused by the other. */
async function checkSeparation(smokeOptions: EmulatedStage['smokeOptions']): Promise<void> {
  const open = async (stage: string) => {
    const [, baseUrl = '', , hostHeader = ''] = await smokeOptions([], stage);
    const { username, password } = await findDeployedStage(stage);
    return new Session({ baseUrl, hostHeader, username, password });
  };
  const [alice, pullRequest] = [await open('alice'), await open('pr-12')];
  try {
    const token = await alice.token();
    const headers = { Authorization: token };
    const own = await alice.send({ method: 'GET', path: '/books', headers });
    const other = await pullRequest.send({ method: 'GET', path: '/books', headers });
    assert.deepEqual([own.status, other.status], [200, 401]);
  } finally {
    for (const session of [alice, pullRequest]) session.close();
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
  const ofStages = ['prod', 'alice', 'pr-12'].map((stage) => `book-catalog-${stage}`);
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
