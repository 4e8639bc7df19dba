/**
 * `npm run verify:emulator`: the life of the stage prod on an AWS emulator, by the pipeline's commands and those of an operator.
 * Exit code 77 without Python.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { IAM } from '@aws-sdk/client-iam';
import { SNS } from '@aws-sdk/client-sns';
import { SSM } from '@aws-sdk/client-ssm';
import { type Book, Catalog } from '../../../conformance/catalog.ts';
import { Session } from '../../../conformance/session.ts';
import { findStack } from '../../../serverless/deploy/stack.ts';
import { findTable } from '../../../tools/restore/table-restore.ts';
import { findDeployedStage, readOutputs } from '../../../tools/smoke/deployed-stage.ts';
import { preparePython } from '../../../tools/toolchains/python-environment.ts';
import { startEmulator } from '../../simulators/aws-emulator.ts';
import { type Fate, startFaultyGateway } from '../../simulators/faulty-gateway.ts';
import { runCommand } from '../../support/run-command.ts';
import { checkDeployerLimits, createDeployer, createUser, toClientConfig } from './deployer.ts';
import { makeEmulatedProject } from './emulated-project.ts';
import { simulatePointInTimeRecovery } from './point-in-time-recovery.ts';

const stage = 'prod';
const StackName = 'book-catalog-prod';
const stackTable = 'book-catalog-prod';
const region = 'eu-west-1';
const denied = { name: /AccessDenied/ };

/** The conformance cases that the emulator fails and AWS does not. */
const notEmulated = [
  // API Gateway treats such a body as JSON, which is in `binaryMediaTypes`; the emulator treats it as text.
  'A body of the Content-Type undefined is read as JSON',
  // The emulator drops an empty value of a repeated header.
  'With a key and an empty one, the request is refused and nothing is stored',
];

/** The emulator gives the end of the recovery window in whole seconds. */
const emulatorClockMs = 1_500;

/** The forms that CloudFormation was sent for change sets. */
const changeSets: URLSearchParams[] = [];
/** What CloudFormation says of the stack, instead of the truth. */
let stackStatus: string | undefined;
/** How often the end of a rollback is kept from the framework; in AWS it takes minutes. */
let pollsWithoutEnd = 0;

step('Install the emulator');
const command = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt');
const emulator = await startEmulator(command('ministack'), region);
const recovery = simulatePointInTimeRecovery(emulator.url);
const proxy = await startFaultyGateway(emulator.url, (_, headers, body) => {
  const operation = String(headers['x-amz-target']);
  if (operation.includes('DynamoDB')) return recovery.decide(operation, body);
  // Uploads are larger.
  return decide(new URLSearchParams(body.length < 1_000_000 ? body.toString() : ''));
});
const project = makeEmulatedProject(emulator.url);
Object.assign(process.env, {
  AWS_ENDPOINT_URL: proxy.baseUrl,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
});
/** The credentials of the pipeline; other requests are those of the account's root user. */
let deployer: NodeJS.ProcessEnv;
try {
  step('Make the deployer stack');
  deployer = await createDeployer(stage);
  await testStage();
} catch (error) {
  process.stderr.write(`${emulator.log()}\n`);
  throw error;
} finally {
  project.remove();
  await proxy.stop();
  await emulator.stop();
}

/** Makes the emulator respond as AWS does, or as a test needs it. */
function decide(form: URLSearchParams): Fate {
  switch (form.get('Action')) {
    case 'CreateChangeSet':
      changeSets.push(form);
      return 'pass';
    case 'DescribeStacks':
      return (text) => text.replace(/<StackStatus>(\w+)/, (_, status) => `<StackStatus>${stackStatus ?? status}`);
    case 'DescribeStackEvents':
      return (text) => {
        if (pollsWithoutEnd === 0) return text;
        if (text.includes('UPDATE_ROLLBACK_COMPLETE<')) pollsWithoutEnd -= 1;
        return text.replaceAll(/<member>(?:(?!<\/member>).)*UPDATE_ROLLBACK_COMPLETE<.*?<\/member>/gs, '');
      };
    case 'ListSubscriptionsByTopic': // an address that has not been confirmed
      return (text) =>
        text.replace(
          /<SubscriptionArn>[^<]*(<\/SubscriptionArn>(?:(?!<member>).)*other@)/s,
          '<SubscriptionArn>PendingConfirmation$1',
        );
    default:
      return 'pass';
  }
}

async function testStage(): Promise<void> {
  step('The first deploy, in an account without settings');
  await deployAndTest();
  assert.deepEqual(findLastTriggers(), []);
  const drill = await raiseAlarm();
  assert.match(drill.stderr, /^No alarm reaches anybody/m);
  assert.equal(drill.status, 1);
  const firstVersion = await findVersion();
  const book = await withCatalog((catalog) => catalog.createBook());

  step('From here on the boundary is in force');
  await enforceBoundary();
  await checkDeployerLimits(stage, await findBoundary());

  step('A deploy with settings: nothing breaks, the books are kept');
  await setSettings({ alarmEmail: 'oncall@example.com', corsOrigin: 'https://docs.example.com' });
  await deployAndTest();
  await raiseAlarmWithSubscribers();
  const goodVersion = await findVersion();
  assert.notEqual(goodVersion, firstVersion);
  const [trigger = '', ...otherTriggers] = findLastTriggers();
  assert.match(trigger, /:alarm:book-catalog-prod-RollbackAlarm/);
  assert.deepEqual(otherTriggers, []);
  assert.equal(changeSets.at(-1)?.get('RollbackConfiguration.MonitoringTimeInMinutes'), '5');
  await checkSettings();
  await checkBook(book);

  step('A version that fails the smoke test: a rollback restores the one before');
  const restoreText = project.replace('handlers/delete-book.ts', 'Book deleted successfully', 'Book deleted');
  await run('deploy');
  assert.equal((await smoke()).status, 1);
  restoreText();
  await run('rollback', '--timestamp', goodVersion);
  assert.equal(await findVersion(), goodVersion);
  assert.deepEqual(findLastTriggers(), []); // nothing rolls a rollback back
  await checkSettings();
  await checkBook(book);

  step('A deploy by hand keeps the settings, and an alarm that is on already does not roll its fix back');
  const AlarmName = trigger.split(':').at(-1);
  await new CloudWatch().setAlarmState({ AlarmName, StateValue: 'ALARM', StateReason: 'a test' });
  await run('deploy', '--force');
  assert.deepEqual(findLastTriggers(), []);
  await checkSettings();

  step('An unknown setting ends the deploy with one line');
  await setSettings({ alarmMail: 'oncall@example.com' });
  const { status, stdout } = await spawn('deploy', '--force');
  assert.equal(status, 1);
  assert.match(stdout, /^\/book-catalog\/prod\/alarmMail in Parameter Store is no setting\. Settings are .+\.$/m);
  await deleteSetting('alarmMail');

  step('A deploy that fails ends when the stack is at rest; one to a stuck stack does not begin');
  await failToDeploy();

  step('Restore the books, interrupted and continued, and go back');
  await restoreBooks(book, goodVersion);
  await deleteSetting('tableName');

  step('Remove, after the protection of the stack has been turned off: the table is kept');
  assert.match((await spawn('remove')).stdout, /deletion protection is enabled/);
  await new CloudFormation().updateTerminationProtection({ StackName, EnableTerminationProtection: false });
  await run('remove');
  const { Table } = await new DynamoDB().describeTable({ TableName: stackTable });
  assert.equal(Table?.DeletionProtectionEnabled, true);

  step('Deploy once more: the table that was kept is used again, with the settings');
  await run('deploy');
  await checkBook(book);
  await checkSettings();

  step("The stage's table is deleted: another one takes its place");
  await replaceDeletedTable();
  await checkBook(book);
  process.stdout.write('\nAll of it works.\n');
}

/** Restores the books of a moment, which a rollback keeps, and goes back to the table before. */
async function restoreBooks(kept: Book, earlierVersion: string): Promise<void> {
  const findStageTable = async () => (await readOutputs(stage)).BookTableName;
  const [changed, deleted] = await withCatalog((catalog) => Promise.all([catalog.createBook(), catalog.createBook()]));
  await recovery.remember(stackTable);
  const at = new Date().toISOString();
  const target = `${stackTable}-${at.replaceAll(/[-:]|\.\d+/g, '')}`;
  const after = await withCatalog(async (catalog) => {
    await catalog.call('PUT', `/book/${changed.id}`, { year: 1 });
    await catalog.call('DELETE', `/book/${deleted.id}`);
    return catalog.createBook();
  });

  await wait(emulatorClockMs);
  const tooEarly = await restore('--at 2020-01-01T00:00:00Z --yes');
  assert.match(tooEarly.stderr, /^book-catalog-prod can be restored to a moment from 20.*Z to 20.*Z\.$/m);
  assert.match((await restore(`--at ${at}`)).stdout, /Nothing has been done/);
  assert.equal(await findTable(new DynamoDB(), target), undefined);
  const interruption = new AbortController();
  recovery.onRestore(() => interruption.abort());
  await assert.rejects(restore(`--at ${at} --prepare`, interruption.signal), { name: 'AbortError' });
  const prepared = await restore(`--at ${at} --prepare`);
  assert.match(prepared.stdout, /continues an earlier run/);
  assert.match(prepared.stdout, new RegExp(`Changed back by a switch to ${target}: 1 \\(${changed.id}\\)`));
  assert.match(prepared.stdout, new RegExp(`Lost: 1 \\(${after.id}\\)\nBrought back: 1 \\(${deleted.id}\\)`));
  assert.equal(await findStageTable(), stackTable);

  assert.equal((await restore(`--at ${at} --yes`)).status, 0);
  assert.equal(await findStageTable(), target);
  await withCatalog(async (catalog) => {
    for (const book of [kept, changed, deleted]) await catalog.expectStored(book);
    assert.equal((await catalog.call('GET', `/book/${after.id}`)).status, 404);
    assert.ok((await catalog.createBook()).id > after.id);
  });
  await checkCompleteness(target);
  assert.match((await restore(`--at ${at} --yes`)).stdout, /nothing to switch/);

  await run('rollback', '--timestamp', earlierVersion);
  assert.equal(await findStageTable(), target);

  assert.equal((await restore(`--table ${stackTable} --yes`)).status, 0);
  assert.equal(await findStageTable(), stackTable);
  await withCatalog(async (catalog) => {
    for (const book of [kept, after, { ...changed, year: 1 }]) await catalog.expectStored(book);
    assert.equal((await catalog.call('GET', `/book/${deleted.id}`)).status, 404);
    assert.ok((await catalog.createBook()).id > after.id + 1);
  });
}

/** Deletes the table of the stage, of which a backup is left. */
async function replaceDeletedTable(): Promise<void> {
  const client = new DynamoDB();
  const TableName = stackTable;
  const { BackupDetails } = await client.createBackup({ TableName, BackupName: 'system' });
  await client.updateTable({ TableName, DeletionProtectionEnabled: false });
  await client.deleteTable({ TableName });
  const TargetTableName = `${TableName}-again`;
  await client.restoreTableFromBackup({ TargetTableName, BackupArn: BackupDetails?.BackupArn });
  const { status, stdout } = await restore(`--table ${TargetTableName} --yes`);
  assert.match(stdout, /uses the table book-catalog-prod, which does not exist/);
  assert.equal(status, 0);
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

/** Deploys an alarm that the emulator refuses, and then to a stack that says that it is stuck. */
async function failToDeploy(): Promise<void> {
  const restoreText = project.replace('serverless/resources/alarms.js', '!Properties.Metrics', 'true');
  pollsWithoutEnd = 2;
  assert.equal((await spawn('deploy')).status, 1);
  restoreText();
  assert.equal(pollsWithoutEnd, 0, 'the deploy ends before the rollback');
  assert.equal((await findStack(StackName))?.status, 'UPDATE_ROLLBACK_COMPLETE');
  stackStatus = 'UPDATE_ROLLBACK_FAILED';
  const { status, stdout } = await spawn('deploy');
  stackStatus = undefined;
  assert.equal(status, 1);
  const advice = 'aws cloudformation continue-update-rollback --stack-name book-catalog-prod';
  assert.match(stdout, new RegExp(`^The stack book-catalog-prod is in UPDATE_ROLLBACK_FAILED\\. .*${advice}$`, 'm'));
}

/** Raises an alarm, and does what CloudWatch does when the metrics are good; the emulator has no metrics. */
async function raiseAlarm() {
  const drill = spawn('drill', '--alarm', 'ErrorShareAlarm');
  const client = new CloudWatch();
  let AlarmName: string | undefined;
  for (let attempt = 0; attempt < 60 && AlarmName === undefined; attempt += 1) {
    await wait(500);
    const { MetricAlarms = [] } = await client.describeAlarms({ StateValue: 'ALARM' });
    AlarmName = MetricAlarms.find((alarm) => alarm.AlarmName?.includes('ErrorShareAlarm'))?.AlarmName;
  }
  await client.setAlarmState({ AlarmName, StateValue: 'OK', StateReason: 'good metrics' });
  return drill;
}

/** Subscribes an address that does not confirm it, and raises an alarm, of which only the other one is told. */
async function raiseAlarmWithSubscribers(): Promise<void> {
  const { AlarmTopic: TopicArn } = await readOutputs(stage);
  await new SNS().subscribe({ TopicArn, Protocol: 'email', Endpoint: 'other@example.com' });
  const { status, stdout } = await raiseAlarm();
  assert.match(stdout, /^oncall@example.com \(email\) is told$/m);
  assert.match(stdout, /^other@example.com \(email\) is not told: /m);
  assert.match(stdout, /ErrorShareAlarm.* is on\..*\n.* is OK again after/);
  assert.equal(status, 0);
}

/** Deploys as the pipeline does. */
async function deployAndTest(): Promise<void> {
  await run('deploy');
  const report = join(project.folder, 'gateway.md');
  assert.equal((await smoke('--report', report)).status, 0);
  assert.match(readFileSync(report, 'utf8'), /`GET \/nowhere`: 404/);
}

/** The alarms of the last update's rollback triggers. */
function findLastTriggers(): readonly string[] {
  const isTrigger = (name: string) => /^RollbackConfiguration\..*\.Arn$/.test(name);
  return [...(changeSets.at(-1) ?? [])].filter(([name]) => isTrigger(name)).map(([, arn]) => arn);
}

async function setSettings(settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, Value] of Object.entries(settings)) {
    await new SSM().putParameter({ Name: `/book-catalog/${stage}/${name}`, Value, Type: 'String' });
  }
}

async function deleteSetting(name: string): Promise<void> {
  await new SSM().deleteParameter({ Name: `/book-catalog/${stage}/${name}` });
}

/** Those of the second deploy, and the boundary, which the deployer stack sets. */
async function checkSettings(): Promise<void> {
  const { corsOrigin } = await findDeployedStage(stage);
  assert.equal(corsOrigin, 'https://docs.example.com');
  assert.equal((await findResources('AWS::SNS::Subscription')).length, 1);
  await findBoundary();
}

/** Enforces the boundary from now on: no role without it, and no rights beyond it. */
async function enforceBoundary(): Promise<void> {
  const boundary = await findBoundary();
  for (const RoleName of await findResources('AWS::IAM::Role')) {
    await new IAM().putRolePermissionsBoundary({ RoleName, PermissionsBoundary: boundary });
  }
  const administrator = 'arn:aws:iam::aws:policy/AdministratorAccess';
  const bounded = toClientConfig(await createUser('bounded', [administrator], boundary));
  const getItem = (TableName: string) =>
    new DynamoDB(bounded).getItem({ TableName, Key: { shard: { N: '0' }, id: { N: '1' } } });
  await getItem(stackTable);
  await assert.rejects(getItem('other'), denied);
  await assert.rejects(new IAM(bounded).listUsers(), denied);
}

async function findResources(type: string): Promise<readonly string[]> {
  const { StackResources = [] } = await new CloudFormation().describeStackResources({ StackName });
  const found = StackResources.filter(({ ResourceType }) => ResourceType === type);
  return found.map(({ PhysicalResourceId = '' }) => PhysicalResourceId);
}

/** Finds the boundary of all roles in the stage's template; the emulator's CloudFormation leaves it out. */
async function findBoundary(): Promise<string> {
  const { TemplateBody = '' } = await new CloudFormation().getTemplate({ StackName });
  const [boundary = '', ...others] = TemplateBody.match(/(?<="PermissionsBoundary": ?")[^"]+/g) ?? [];
  assert.equal(others.length, 6);
  assert.match(boundary, /:policy\/book-catalog-deployer-Boundary-/);
  return boundary;
}

/** Finds where the emulator serves the stage; the stack's outputs have AWS's address. */
async function findAddress() {
  const { ServiceEndpoint = '' } = await readOutputs(stage);
  const [apiId] = new URL(ServiceEndpoint).hostname.split('.', 1);
  const { origin, port } = new URL(proxy.baseUrl);
  return { baseUrl: `${origin}/${stage}`, hostHeader: `${apiId}.execute-api.localhost:${port}` };
}

async function smoke(...args: readonly string[]) {
  const { baseUrl, hostHeader } = await findAddress();
  const without = notEmulated.flatMap((name) => ['--without', name]);
  return spawn('smoke', '--base-url', baseUrl, '--host-header', hostHeader, ...without, ...args);
}

async function withCatalog<Result>(use: (catalog: Catalog) => Promise<Result>): Promise<Result> {
  const { username, password } = await findDeployedStage(stage);
  const session = new Session({ ...(await findAddress()), username, password });
  try {
    return await use(new Catalog(session));
  } finally {
    session.close();
  }
}

async function checkBook(book: Book): Promise<void> {
  await withCatalog((catalog) => catalog.expectStored(book));
}

async function findVersion(): Promise<string> {
  const args = ['serverless/deploy/deployed.ts', '--stage', stage];
  const { stdout } = await runCommand('node', args, project.folder, { ...process.env, ...deployer });
  return stdout.trim();
}

/** Runs `npm run restore` as an administrator, without npm, which would not pass the signal on. */
function restore(options: string, signal?: AbortSignal) {
  const args = ['tools/restore/main.ts', '--stage', stage, ...options.split(' ')];
  return runCommand('node', args, project.folder, process.env, signal);
}

/** Runs a command of package.json with the rights of the pipeline. */
function spawn(script: string, ...options: readonly string[]) {
  const args = ['run', '--silent', script, '--', '--stage', stage, ...options];
  return runCommand('npm', args, project.folder, { ...process.env, ...deployer });
}

async function run(script: string, ...options: readonly string[]) {
  const result = await spawn(script, ...options);
  assert.equal(result.status, 0, `npm run ${script} failed`);
  return result;
}

function step(title: string): void {
  process.stdout.write(`\n--- ${title}\n`);
}
