/**
 * `npm run verify:emulator`: the life of the stage prod on an AWS emulator, by the pipeline's commands and those of an operator.
 * Exit code 77 without Python.
 */

import assert from 'node:assert/strict';
import { APIGateway } from '@aws-sdk/client-api-gateway';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { IAM } from '@aws-sdk/client-iam';
import { SSM } from '@aws-sdk/client-ssm';
import { type Book, createBook, expectStored } from '../../../conformance/books.ts';
import { ConformanceContext } from '../../../conformance/context.ts';
import { findDeployedStage } from '../../../tools/smoke/deployed-stage.ts';
import { preparePython } from '../../../tools/toolchains/python-environment.ts';
import { startEmulator } from '../../simulators/aws-emulator.ts';
import { startFaultyGateway } from '../../simulators/faulty-gateway.ts';
import { runDeployWorkflow } from '../../simulators/github-workflow.ts';
import { runCommand } from '../../support/run-command.ts';
import { createDeployer, createUser } from './deployer.ts';
import { makeEmulatedProject } from './emulated-project.ts';
import { findEmulatedStage } from './emulated-stage.ts';

const stage = 'prod';
const region = 'eu-west-1';

/** The steps of a run without a rollback. */
const untilSmoke = [
  'Make the code caches with that Node (docs/operations.md, "Code caches")',
  'Remember what is deployed',
  'Deploy',
  'Smoke',
];

let project: ReturnType<typeof makeEmulatedProject>;
/** The forms that CloudFormation was sent for change sets. */
const changeSets: URLSearchParams[] = [];
/** The credentials of the pipeline; other requests are those of the account's root user. */
let deployer: NodeJS.ProcessEnv;

await main();

async function main(): Promise<void> {
  step('Install the emulator');
  const command = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt');
  const emulator = await startEmulator(command('ministack'), region);
  const proxy = await startFaultyGateway(emulator.url, (_name, _headers, body) => {
    // Uploads are larger.
    const form = new URLSearchParams(body.length < 1_000_000 ? body.toString() : '');
    if (form.get('Action') === 'CreateChangeSet') changeSets.push(form);
    return 'pass';
  });
  project = makeEmulatedProject(emulator.url);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: proxy.baseUrl,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
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
  step('The first run of the pipeline, in an account without settings');
  assert.deepEqual(await runPipeline({}), { steps: untilSmoke, passed: true });
  assert.deepEqual(lastTriggers(), []);
  await checkThrottling();
  const firstVersion = await findVersion();
  const book = await withContext((context) => createBook(context));

  step('From here on the boundary is in force');
  await enforceBoundary();

  step('The pipeline with every setting and variable: nothing breaks, the books are kept');
  await setSettings({ alarmEmail: 'oncall@example.com', corsOrigin: 'https://docs.example.com' });
  assert.deepEqual(await runPipeline({ LAMBDA_NODE_VERSION: '24.19.0' }), {
    steps: untilSmoke,
    passed: true,
  });
  const goodVersion = await findVersion();
  assert.notEqual(goodVersion, firstVersion);
  const [trigger, ...otherTriggers] = lastTriggers();
  assert.match(trigger ?? '', /:alarm:book-catalog-prod-ErrorShareAlarm/);
  assert.deepEqual(otherTriggers, []);
  assert.equal(lastChangeSet().get('RollbackConfiguration.MonitoringTimeInMinutes'), '5');
  await checkSettings();
  await checkThrottling();
  await checkBook(book);

  step('The pipeline with a version that fails the smoke test: the version before is put back');
  const mend = project.replace('lib/http/outcomes.ts', 'Book deleted successfully', 'Book deleted');
  assert.deepEqual(await runPipeline({}), { steps: [...untilSmoke, 'Roll back'], passed: false });
  mend();
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

  step('Remove: the table is kept');
  await run('remove');
  const { Table } = await new DynamoDB().describeTable({ TableName: `book-catalog-${stage}` });
  assert.equal(Table?.DeletionProtectionEnabled, true);

  step('Deploy once more: the table that was kept is used again, with the settings');
  await run('deploy');
  await checkBook(book);
  await checkSettings();

  step('Deploy a stage by hand, as an administrator, without a deployer stack');
  const args = ['run', 'deploy', '--', '--stage', 'dev'];
  const { status } = await runCommand('npm', args, project.folder, process.env);
  assert.equal(status, 0);
  assert.deepEqual(new Set(await findBoundaries('dev')), new Set([undefined]));
  process.stdout.write('\nAll of it works.\n');
}

/** @param vars - the optional variables of the environment at GitHub */
function runPipeline(vars: Readonly<Record<string, string>>) {
  return runDeployWorkflow({
    folder: project.folder,
    environment: { ...process.env, ...deployer },
    inputs: { stage },
    vars: { DEPLOY_ROLE_ARN: 'arn:aws:iam::123456789012:role/deployer', AWS_REGION: region, ...vars },
  });
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
  const [boundary] = await findBoundaries(stage);
  for (const RoleName of await findResources(stage, 'AWS::IAM::Role')) {
    await new IAM().putRolePermissionsBoundary({ RoleName, PermissionsBoundary: boundary });
  }
  const trust = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const role = {
    RoleName: `book-catalog-${stage}-other`,
    AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [trust] }),
  };
  await assert.rejects(new IAM(as(deployer)).createRole(role), { name: /AccessDenied/ });

  const bounded = as(await createUser('bounded', ['arn:aws:iam::aws:policy/AdministratorAccess'], boundary));
  const getItem = (TableName: string) =>
    new DynamoDB(bounded).getItem({ TableName, Key: { shard: { N: '0' }, id: { N: '1' } } });
  await getItem(`book-catalog-${stage}`);
  await assert.rejects(getItem('other'), { name: /AccessDenied/ });
  await assert.rejects(new IAM(bounded).listUsers(), { name: /AccessDenied/ });
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

async function withContext<Result>(use: (context: ConformanceContext) => Promise<Result>): Promise<Result> {
  const { username, password } = await findDeployedStage(stage);
  const { baseUrl, hostHeader } = await findEmulatedStage(stage);
  const context = new ConformanceContext({ baseUrl, hostHeader, username, password });
  try {
    return await use(context);
  } finally {
    context.close();
  }
}

async function checkBook(book: Book): Promise<void> {
  await withContext((context) => expectStored(context, book));
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

async function run(script: string, ...args: readonly string[]): Promise<void> {
  const { status } = await spawn(script, ...args);
  assert.equal(status, 0, `npm run ${script} failed`);
}

function step(title: string): void {
  process.stdout.write(`\n--- ${title}\n`);
}
