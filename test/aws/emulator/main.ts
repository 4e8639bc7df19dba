/**
 * `npm run verify:emulator`: the life of the stage prod on an AWS emulator, by the pipeline's commands and those of an operator.
 * Exit code 77 without Python.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { APIGateway } from '@aws-sdk/client-api-gateway';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { IAM } from '@aws-sdk/client-iam';
import { SNS } from '@aws-sdk/client-sns';
import { SSM } from '@aws-sdk/client-ssm';
import { type Book, Catalog } from '../../../conformance/catalog.ts';
import { Session } from '../../../conformance/session.ts';
import { findStack } from '../../../serverless/deploy/stack.ts';
import { functionNames } from '../../../serverless/packaging/package-service.ts';
import { findTable } from '../../../tools/restore/table-restore.ts';
import { findDeployedStage, readOutputs } from '../../../tools/smoke/deployed-stage.ts';
import { preparePython } from '../../../tools/toolchains/python-environment.ts';
import { startEmulator } from '../../simulators/aws-emulator.ts';
import { startFaultyGateway } from '../../simulators/faulty-gateway.ts';
import { runCommand } from '../../support/run-command.ts';
import { createDeployer, createUser, findAllowed } from './deployer.ts';
import { makeEmulatedProject } from './emulated-project.ts';
import { findEmulatedStage } from './emulated-stage.ts';
import { simulatePointInTimeRecovery } from './point-in-time-recovery.ts';

const stage = 'prod';
const region = 'eu-west-1';
const administrator = 'arn:aws:iam::aws:policy/AdministratorAccess';
const denied = { name: /AccessDenied/ };

/** The emulator gives the end of the recovery window in whole seconds. */
const emulatorClockMs = 1_500;

let project: ReturnType<typeof makeEmulatedProject>;
/** The forms that CloudFormation was sent for change sets. */
const changeSets: URLSearchParams[] = [];
/** What CloudFormation says of the stack, instead of the truth. */
let stackStatus: string | undefined;
/** How often the end of a rollback is kept from the framework; in AWS it takes minutes. */
let pollsWithoutEnd = 0;
let recovery: ReturnType<typeof simulatePointInTimeRecovery>;
/** The credentials of the pipeline; other requests are those of the account's root user. */
let deployer: NodeJS.ProcessEnv;

await main();

async function main(): Promise<void> {
  step('Install the emulator');
  const command = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt');
  const emulator = await startEmulator(command('ministack'), region);
  const proxy = await startFaultyGateway(emulator.url, (name, headers, body) => {
    // As in a new account.
    if (name.includes('/account-settings')) {
      return { status: 200, body: JSON.stringify({ AccountLimit: { ConcurrentExecutions: 10 } }) };
    }
    const operation = headers['x-amz-target'];
    if (operation?.includes('DynamoDB')) return recovery.decide(String(operation), body);
    // Uploads are larger.
    const form = new URLSearchParams(body.length < 1_000_000 ? body.toString() : '');
    if (form.get('Action') === 'CreateChangeSet') changeSets.push(form);
    if (form.get('Action') === 'DescribeStackEvents' && pollsWithoutEnd > 0) {
      return (text) => {
        if (text.includes('UPDATE_ROLLBACK_COMPLETE<')) pollsWithoutEnd -= 1;
        return text.replaceAll(/<member>(?:(?!<\/member>).)*UPDATE_ROLLBACK_COMPLETE<.*?<\/member>/gs, '');
      };
    }
    // As AWS lists an address that has not been confirmed.
    if (form.get('Action') === 'ListSubscriptionsByTopic') {
      return (text) =>
        text.replace(
          /<SubscriptionArn>[^<]*(<\/SubscriptionArn>(?:(?!<member>).)*other@)/s,
          '<SubscriptionArn>PendingConfirmation$1',
        );
    }
    if (form.get('Action') === 'DescribeStacks' && stackStatus !== undefined) {
      return (text) => text.replace(/<StackStatus>\w+/, `<StackStatus>${stackStatus}`);
    }
    return 'pass';
  });
  project = makeEmulatedProject(emulator.url);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: proxy.baseUrl,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  recovery = simulatePointInTimeRecovery(emulator.url);
  try {
    step('Make the deployer stack');
    deployer = await createDeployer(stage);
    await liveThrough();
  } catch (error) {
    process.stderr.write(`${emulator.log()}\n`);
    throw error;
  } finally {
    project.remove();
    await proxy.stop();
    await emulator.stop();
  }
}

async function liveThrough(): Promise<void> {
  step('The first deploy, in an account without settings');
  await deployAndTest();
  assert.deepEqual(lastTriggers(), []);
  const untold = await raiseAlarm();
  assert.match(untold.stderr, /^No alarm reaches anybody/m);
  assert.equal(untold.status, 1);
  await checkThrottling();
  const firstVersion = await findVersion();
  const book = await withCatalog((catalog) => catalog.createBook());

  step('From here on the boundary is in force');
  await enforceBoundary();
  await checkDeployerLimits();

  step('A deploy with settings: nothing breaks, the books are kept');
  await setSettings({ alarmEmail: 'oncall@example.com', corsOrigin: 'https://docs.example.com' });
  await deployAndTest();
  await raiseAlarmWithSubscribers();
  const goodVersion = await findVersion();
  assert.notEqual(goodVersion, firstVersion);
  const [trigger, ...otherTriggers] = lastTriggers();
  assert.match(trigger ?? '', /:alarm:book-catalog-prod-ErrorShareAlarm/);
  assert.deepEqual(otherTriggers, []);
  assert.equal(lastChangeSet().get('RollbackConfiguration.MonitoringTimeInMinutes'), '5');
  await checkSettings();
  await checkThrottling();
  await checkBook(book);

  step('A version that fails the smoke test: a rollback restores the one before');
  const mend = project.replace('lib/http/outcomes.ts', 'Book deleted successfully', 'Book deleted');
  await run('deploy');
  assert.equal((await spawn('smoke')).status, 1);
  mend();
  await run('rollback', '--timestamp', goodVersion);
  assert.equal(await findVersion(), goodVersion);
  assert.deepEqual(lastTriggers(), []); // nothing rolls a rollback back
  await checkSettings();
  await checkBook(book);

  step('An alarm that is on already does not take its cure back');
  const AlarmName = trigger?.split(':').at(-1);
  await new CloudWatch().setAlarmState({ AlarmName, StateValue: 'ALARM', StateReason: 'a test' });
  await run('deploy', '--force');
  assert.deepEqual(lastTriggers(), []);

  step('A deploy by hand that repeats nothing keeps the settings');
  await checkSettings();

  step('A setting that there is not ends the deploy with one line');
  await setSettings({ alarmMail: 'oncall@example.com' });
  const mistaken = await spawn('deploy', '--force');
  assert.equal(mistaken.status, 1);
  assert.match(
    mistaken.stdout,
    /^\/book-catalog\/prod\/alarmMail in Parameter Store is no setting\. Settings are .+\.$/m,
  );
  await new SSM().deleteParameter({ Name: '/book-catalog/prod/alarmMail' });

  step('A deploy that fails ends when the stack is at rest; one to a stuck stack does not begin');
  await failToDeploy();

  step('Restore the books, interrupted and continued, and go back');
  await restoreBooks(book, goodVersion);
  await new SSM().deleteParameter({ Name: `/book-catalog/${stage}/tableName` });

  step('Remove, after the protection of the stack has been turned off: the table is kept');
  assert.match((await spawn('remove')).stdout, /deletion protection is enabled/);
  const StackName = `book-catalog-${stage}`;
  await new CloudFormation().updateTerminationProtection({ StackName, EnableTerminationProtection: false });
  await run('remove');
  const { Table } = await new DynamoDB().describeTable({ TableName: `book-catalog-${stage}` });
  assert.equal(Table?.DeletionProtectionEnabled, true);

  step('Deploy once more: the table that was kept is used again, with the settings');
  await run('deploy');
  await checkBook(book);
  await checkSettings();

  step("The stage's table is deleted: another one takes its place");
  await replaceDeletedTable(book);
  process.stdout.write('\nAll of it works.\n');
}

/** Restores the books of a moment, which a rollback keeps, and goes back to the table before. */
async function restoreBooks(kept: Book, earlierVersion: string): Promise<void> {
  const [live, outputOf] = [`book-catalog-${stage}`, async () => (await readOutputs(stage)).BookTableName];
  const [changed, deleted] = await withCatalog((catalog) =>
    Promise.all([catalog.createBook(), catalog.createBook()]),
  );
  await recovery.remember(live);
  const at = new Date().toISOString();
  const target = `${live}-${at.replaceAll(/[-:]|\.\d+/g, '')}`;
  const after = await withCatalog(async (catalog) => {
    await catalog.call('PUT', `/book/${changed.id}`, { year: 1 });
    await catalog.call('DELETE', `/book/${deleted.id}`);
    return catalog.createBook();
  });

  await wait(emulatorClockMs);
  const tooEarly = await restore('--at', '2020-01-01T00:00:00Z', '--yes');
  assert.match(tooEarly.stderr, /^book-catalog-prod can be restored to a moment from 20.*Z to 20.*Z\.$/m);
  assert.match((await restore('--at', at)).stdout, /Nothing has been done/);
  assert.equal(await findTable(new DynamoDB(), target), undefined);
  const interruption = new AbortController();
  recovery.onRestore(() => interruption.abort());
  await assert.rejects(restore('--at', at, '--prepare', interruption.signal), { name: 'AbortError' });
  const prepared = await restore('--at', at, '--prepare');
  assert.match(prepared.stdout, /continues an earlier run/);
  assert.match(prepared.stdout, new RegExp(`Changed back by a switch to ${target}: 1 \\(${changed.id}\\)`));
  assert.match(prepared.stdout, new RegExp(`Lost: 1 \\(${after.id}\\)\nBrought back: 1 \\(${deleted.id}\\)`));
  assert.equal(await outputOf(), live);

  assert.equal((await restore('--at', at, '--yes')).status, 0);
  assert.equal(await outputOf(), target);
  await withCatalog(async (catalog) => {
    for (const book of [kept, changed, deleted]) await catalog.expectStored(book);
    assert.equal((await catalog.call('GET', `/book/${after.id}`)).status, 404);
    assert.ok((await catalog.createBook()).id > after.id);
  });
  await checkCompleteness(target);
  assert.match((await restore('--at', at, '--yes')).stdout, /nothing to switch/);

  await run('rollback', '--timestamp', earlierVersion);
  assert.equal(await outputOf(), target);

  assert.equal((await restore('--table', live, '--yes')).status, 0);
  assert.equal(await outputOf(), live);
  await withCatalog(async (catalog) => {
    for (const book of [kept, after, { ...changed, year: 1 }]) await catalog.expectStored(book);
    assert.equal((await catalog.call('GET', `/book/${deleted.id}`)).status, 404);
    assert.ok((await catalog.createBook()).id > after.id + 1);
  });
}

/** Deletes the table of the stage, of which a backup is left. */
async function replaceDeletedTable(book: Book): Promise<void> {
  const client = new DynamoDB();
  const TableName = `book-catalog-${stage}`;
  const { BackupDetails } = await client.createBackup({ TableName, BackupName: 'system' });
  await client.updateTable({ TableName, DeletionProtectionEnabled: false });
  await client.deleteTable({ TableName });
  const TargetTableName = `${TableName}-again`;
  await client.restoreTableFromBackup({ TargetTableName, BackupArn: BackupDetails?.BackupArn });
  const { status, stdout } = await restore('--table', TargetTableName, '--yes');
  assert.match(stdout, /uses the table book-catalog-prod, which does not exist/);
  assert.equal(status, 0);
  await checkBook(book);
}

/** Checks that a restored table has what that of a deploy has. */
async function checkCompleteness(TableName: string): Promise<void> {
  const client = new DynamoDB();
  const { Table } = await client.describeTable({ TableName });
  assert.equal(Table?.DeletionProtectionEnabled, true);
  const { ContinuousBackupsDescription: backups } = await client.describeContinuousBackups({ TableName });
  assert.equal(backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus, 'ENABLED');
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName });
  assert.deepEqual(TimeToLiveDescription, { TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' });
  const { Tags = [] } = await client.listTagsOfResource({ ResourceArn: Table?.TableArn });
  assert.ok(Tags.some(({ Key, Value }) => Key === 'STAGE' && Value === stage));
}

/** Runs `npm run restore` as an administrator, without npm, which would not pass the signal on. */
function restore(...args: readonly (string | AbortSignal)[]) {
  const signal = args.find((arg) => arg instanceof AbortSignal);
  const texts = args.filter((arg) => typeof arg === 'string');
  const command = ['tools/restore/main.ts', '--stage', stage, ...texts];
  return runCommand('node', command, project.folder, process.env, signal);
}

/** Deploys an alarm that the emulator refuses, and then to a stack that says that it is stuck. */
async function failToDeploy(): Promise<void> {
  const mend = project.replace('serverless/resources/alarms.js', '!Properties.Metrics', 'true');
  pollsWithoutEnd = 2;
  assert.equal((await spawn('deploy')).status, 1);
  mend();
  assert.equal(pollsWithoutEnd, 0, 'the deploy ends before the rollback');
  assert.equal((await findStack(`book-catalog-${stage}`))?.status, 'UPDATE_ROLLBACK_COMPLETE');
  stackStatus = 'UPDATE_ROLLBACK_FAILED';
  const { status, stdout } = await spawn('deploy');
  stackStatus = undefined;
  assert.equal(status, 1);
  const command = 'aws cloudformation continue-update-rollback --stack-name book-catalog-prod';
  assert.match(
    stdout,
    new RegExp(`^The stack book-catalog-prod is in UPDATE_ROLLBACK_FAILED\\. .*${command}$`, 'm'),
  );
}

/** Raises an alarm and gives the exit code of the command and what it says. */
async function raiseAlarm() {
  const ended = spawn('drill', '--alarm', 'LatencyAlarm');
  await setToOk('LatencyAlarm');
  return ended;
}

/** Subscribes an address that does not confirm it, and raises an alarm, of which only the other one is told. */
async function raiseAlarmWithSubscribers(): Promise<void> {
  const { AlarmTopic: TopicArn } = await readOutputs(stage);
  await new SNS().subscribe({ TopicArn, Protocol: 'email', Endpoint: 'other@example.com' });
  const { status, stdout } = await raiseAlarm();
  assert.match(stdout, /^oncall@example.com \(email\) is told$/m);
  assert.match(stdout, /^other@example.com \(email\) is not told: /m);
  assert.match(stdout, /LatencyAlarm.* is on\..*\n.* is OK again after/);
  assert.equal(status, 0);
}

/** Waits until an alarm is on, and does what CloudWatch does when the metrics are good; the emulator has no metrics. */
async function setToOk(logicalId: string): Promise<void> {
  const client = new CloudWatch();
  for (let attempt = 0; attempt < 60; attempt += 1) {
    await wait(500);
    const { MetricAlarms = [] } = await client.describeAlarms({ StateValue: 'ALARM' });
    const AlarmName = MetricAlarms.map((alarm) => alarm.AlarmName).find((name) => name?.includes(logicalId));
    if (AlarmName === undefined) continue;
    await client.setAlarmState({ AlarmName, StateValue: 'OK', StateReason: 'good metrics' });
    return;
  }
  throw new Error(`${logicalId} is not on`);
}

/** Deploys as the pipeline does. */
async function deployAndTest(): Promise<void> {
  assert.match((await run('deploy')).stderr, /^The account may run 10 function instances at a time/m);
  const report = join(project.folder, 'gateway.md');
  await run('smoke', '--report', report);
  for (const name of functionNames)
    assert.match(readFileSync(report, 'utf8'), new RegExp(`^\\| ${name} \\|`, 'm'));
}

function lastChangeSet(): URLSearchParams {
  return changeSets.at(-1) ?? new URLSearchParams();
}

/** The alarms of the last update's rollback triggers. */
function lastTriggers(): readonly string[] {
  return [...lastChangeSet()]
    .filter(([name]) => /^RollbackConfiguration\..*\.Arn$/.test(name))
    .map(([, arn]) => arn);
}

async function setSettings(settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, Value] of Object.entries(settings)) {
    await new SSM().putParameter({ Name: `/book-catalog/${stage}/${name}`, Value, Type: 'String' });
  }
}

/** Those of the second run, and the boundary, which the deployer stack sets. */
async function checkSettings(): Promise<void> {
  const { corsOrigin } = await findDeployedStage(stage);
  assert.equal(corsOrigin, 'https://docs.example.com');
  assert.equal((await findResources(stage, 'AWS::SNS::Subscription')).length, 1);
  await checkBoundaries();
}

async function checkBoundaries(): Promise<void> {
  const boundaries = await findBoundaries(stage);
  assert.equal(boundaries.length, 7);
  for (const boundary of boundaries) assert.match(boundary ?? '', /:policy\/book-catalog-deployer-Boundary-/);
}

/** Enforces the boundary from now on: no role without it, and no rights beyond it. */
async function enforceBoundary(): Promise<void> {
  await checkBoundaries();
  const [boundary = ''] = await findBoundaries(stage);
  for (const RoleName of await findResources(stage, 'AWS::IAM::Role')) {
    await new IAM().putRolePermissionsBoundary({ RoleName, PermissionsBoundary: boundary });
  }
  const bounded = as(await createUser('bounded', [administrator], boundary));
  const getItem = (TableName: string) =>
    new DynamoDB(bounded).getItem({ TableName, Key: { shard: { N: '0' }, id: { N: '1' } } });
  await getItem(`book-catalog-${stage}`);
  await assert.rejects(getItem('other'), denied);
  await assert.rejects(new IAM(bounded).listUsers(), denied);
}

/** Tries what the deployer must not do. The emulator does not know the boundary of a request, so it refuses every role. */
async function checkDeployerLimits(): Promise<void> {
  const iam = new IAM(as(deployer));
  const [boundary = ''] = await findBoundaries(stage);
  const trust = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [trust] });
  const createRole = (RoleName: string, PermissionsBoundary?: string) =>
    iam.createRole({ RoleName, AssumeRolePolicyDocument, PermissionsBoundary });
  const RoleName = `book-catalog-${stage}-other`;
  await assert.rejects(createRole(RoleName), denied);
  await assert.rejects(createRole(RoleName, administrator), denied);
  await assert.rejects(createRole('other', boundary), denied);
  await assert.rejects(iam.deleteRolePermissionsBoundary({ RoleName }), denied);
  await assert.rejects(
    iam.putRolePermissionsBoundary({ RoleName, PermissionsBoundary: administrator }),
    denied,
  );

  const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:000000000000:${rest}`;
  const items = 'dynamodb:GetItem BatchGetItem Query Scan PutItem UpdateItem DeleteItem BatchWriteItem';
  const copies = 'PartiQLSelect ExportTableToPointInTime RestoreTableToPointInTime CreateBackup';
  const table = arn('dynamodb', `table/book-catalog-${stage}`);
  const requests = (own: string) => ({
    [arn('cloudformation', `stack/book-catalog-${own}/0a1b`)]:
      'cloudformation:UpdateStack ContinueUpdateRollback',
    [arn('dynamodb', `table/book-catalog-${own}`)]: 'dynamodb:UpdateTable',
    [arn('lambda', `function:book-catalog-${own}-getBook`)]: 'lambda:UpdateFunctionCode',
    [arn('secretsmanager', `secret:book-catalog-${own}-signing-0a1b-A1b2C3`)]:
      'secretsmanager:GetSecretValue',
    [`arn:aws:s3:::book-catalog-${own}-serverlessdeploymentbucket-1a2b`]: 's3:DeleteBucket',
  });
  assert.equal((await findAllowed('deployer', requests(stage))).length, 6);
  const forbidden = {
    ...requests('dev'),
    [table]: `${items} ${copies} PutResourcePolicy DeleteTable`,
    [`${table}/stream/2026`]: 'dynamodb:GetRecords',
    [arn('ssm', `parameter/book-catalog/${stage}/alarmEmail`)]: 'ssm:PutParameter DeleteParameter',
    [boundary]: 'iam:CreatePolicyVersion SetDefaultPolicyVersion DeletePolicy',
    'arn:aws:iam::000000000000:role/Admin': 'iam:PassRole UpdateAssumeRolePolicy',
    'arn:aws:iam::000000000000:user/anybody': 'iam:CreateUser CreateAccessKey',
  };
  assert.deepEqual(await findAllowed('deployer', forbidden), []);
}

/** Credentials of environment variables for a client of the SDK. */
function as({ AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' }: NodeJS.ProcessEnv) {
  return { credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } };
}

async function findResources(ofStage: string, type: string): Promise<readonly string[]> {
  const StackName = `book-catalog-${ofStage}`;
  const { StackResources = [] } = await new CloudFormation().describeStackResources({ StackName });
  const found = StackResources.filter(({ ResourceType }) => ResourceType === type);
  return found.map(({ PhysicalResourceId = '' }) => PhysicalResourceId);
}

/** The boundaries of the roles in a stage's template; the emulator's CloudFormation leaves them out. */
async function findBoundaries(ofStage: string): Promise<readonly (string | undefined)[]> {
  const StackName = `book-catalog-${ofStage}`;
  const { TemplateBody = '' } = await new CloudFormation().getTemplate({ StackName });
  const resources: { Type: string; Properties: { PermissionsBoundary?: string } }[] = Object.values(
    JSON.parse(TemplateBody).Resources,
  );
  return resources
    .filter(({ Type }) => Type === 'AWS::IAM::Role')
    .map(({ Properties }) => Properties.PermissionsBoundary);
}

async function withCatalog<Result>(use: (catalog: Catalog) => Promise<Result>): Promise<Result> {
  const { username, password } = await findDeployedStage(stage);
  const { baseUrl, hostHeader } = await findEmulatedStage(stage);
  const session = new Session({ baseUrl, hostHeader, username, password });
  try {
    return await use(new Catalog(session));
  } finally {
    session.close();
  }
}

async function checkBook(book: Book): Promise<void> {
  await withCatalog((catalog) => catalog.expectStored(book));
}

/** The emulator stores the rates without enforcing them. */
async function checkThrottling(): Promise<void> {
  const { apiId } = await findEmulatedStage(stage);
  const { methodSettings } = await new APIGateway().getStage({ restApiId: apiId, stageName: stage });
  assert.equal(methodSettings?.['*/*']?.throttlingRateLimit, 500);
  assert.equal(methodSettings?.['/~1token/POST']?.throttlingRateLimit, 5);
}

async function findVersion(): Promise<string> {
  const args = ['serverless/deploy/deployed.ts', '--stage', stage];
  const { stdout } = await runCommand('node', args, project.folder, { ...process.env, ...deployer });
  return stdout.trim();
}

/** Runs a command of package.json with the rights of the pipeline. */
function spawn(script: string, ...args: readonly string[]) {
  return runCommand('npm', ['run', '--silent', script, '--', '--stage', stage, ...args], project.folder, {
    ...process.env,
    ...deployer,
  });
}

async function run(script: string, ...args: readonly string[]) {
  const result = await spawn(script, ...args);
  assert.equal(result.status, 0, `npm run ${script} failed`);
  return result;
}

function step(title: string): void {
  process.stdout.write(`\n--- ${title}\n`);
}
