/**
 * `npm run test:aws`: the life of the stage prod on an AWS emulator, by the same commands as in AWS. Exit code 77 where
 * there is no Python to run the emulator with.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { APIGatewayClient, GetStageCommand } from '@aws-sdk/client-api-gateway';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Book, createBook, expectStored } from '../conformance/book-steps.ts';
import { type ConformanceContext, createContext } from '../conformance/context.ts';
import { testService } from '../conformance/test-service.ts';
import { findDeployedStage, readOutputs } from '../smoke/deployed-stage.ts';
import { NoPythonError, preparePython } from '../support/python-environment.ts';
import { createDeployer } from './deployer.ts';
import { type Emulator, startEmulator } from './emulator.ts';

const stage = 'prod';
const region = 'eu-west-1';
const noPythonExitCode = 77;

/**
 * API Gateway takes a body without a Content-Type for JSON, which is in `binaryMediaTypes`; the emulator takes it for text. It
 * hands a malformed path to the function.
 */
const notEmulated = [
  'A body without a Content-Type is read as JSON',
  'A malformed percent-encoding in a path is a bad request',
];

/** The credentials of whoever runs the commands; everything else here is done by the account's root user. */
let deployer: NodeJS.ProcessEnv;

try {
  await main();
} catch (error) {
  if (!(error instanceof NoPythonError)) throw error;
  process.stderr.write(`Not tested: ${error.message}\n`);
  process.exitCode = noPythonExitCode;
}

async function main(): Promise<void> {
  step('Install the emulator');
  const command = preparePython('.venv-aws', 'test/aws/requirements.txt');
  const emulator = await startEmulator(command('ministack'), region);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: emulator.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  try {
    step('Create the user that deploys');
    deployer = await createDeployer(stage);
    await liveThrough(emulator);
  } catch (error) {
    process.stderr.write(`${emulator.log()}\n`);
    throw error;
  } finally {
    await emulator.stop();
  }
}

async function liveThrough(emulator: Emulator): Promise<void> {
  step('Deploy');
  run('deploy', ...lacks(emulator));
  await checkThrottling();
  step('Conformance');
  assert.equal(await testService({ ...(await findService(emulator)), without: notEmulated }), 0);
  const firstVersion = findVersion();
  const book = await withContext(emulator, (context) => createBook(context));

  step('Deploy again: nothing breaks, the books are kept');
  run('deploy', '--force', ...lacks(emulator));
  await checkThrottling();
  await checkBook(emulator, book);

  step('Roll back to the first deploy');
  assert.notEqual(findVersion(), firstVersion);
  run('rollback', '--timestamp', firstVersion);
  assert.equal(findVersion(), firstVersion);
  await checkBook(emulator, book);

  step('Smoke');
  const { baseUrl, hostHeader } = await findService(emulator);
  const without = notEmulated.flatMap((name) => ['--without', name]);
  run('smoke', '--base-url', baseUrl, '--host-header', hostHeader, ...without);

  step('Deploy with an origin whose scripts may call the service');
  run('deploy', '--param', 'corsOrigin=https://docs.example.com', ...lacks(emulator));
  run('smoke', '--base-url', baseUrl, '--host-header', hostHeader, ...without);

  step('Remove: the table is kept');
  run('remove');
  const { Table } = await new DynamoDBClient().send(
    new DescribeTableCommand({ TableName: `book-catalog-${stage}` }),
  );
  assert.equal(Table?.DeletionProtectionEnabled, true);

  step('Deploy once more: the table that was kept is used again');
  run('deploy', ...lacks(emulator));
  await checkBook(emulator, book);
  process.stdout.write('\nAll of it works.\n');
}

/** Parameters for what the emulator lacks (infrastructure/stages.yml); all others are those of the stage. */
function lacks(emulator: Emulator): readonly string[] {
  return [
    // The functions' requests to AWS's own name for DynamoDB would leave the machine.
    `dynamodbEndpoint=${emulator.url}`,
    // An integration with the transfer mode STREAM is taken, and then answers 500.
    'responseTransferMode=BUFFERED',
    // A wait of more than 29 s goes with STREAM only.
    'listTimeoutInMillis=29000',
    // It speaks HTTP, which the policy of the deployment bucket refuses to all but the root user.
    'skipBucketPolicy=true',
    // An alarm on an expression fails the stack.
    'metricMath=no',
  ].flatMap((parameter) => ['--param', parameter]);
}

/** How the deployed service is reached; the address in the stack's outputs is AWS's. */
async function findService({ url, apiHost }: Emulator) {
  const { username, password } = await findDeployedStage(stage);
  const hostHeader = `${await findApiId()}.execute-api.${apiHost}`;
  return { baseUrl: `${url}/${stage}`, hostHeader, username, password };
}

async function withContext<Result>(
  emulator: Emulator,
  use: (context: ConformanceContext) => Promise<Result>,
): Promise<Result> {
  const context = createContext(await findService(emulator));
  try {
    return await use(context);
  } finally {
    context.close();
  }
}

async function checkBook(emulator: Emulator, book: Book): Promise<void> {
  await withContext(emulator, (context) => expectStored(context, book));
}

async function findApiId(): Promise<string> {
  const { ServiceEndpoint = '' } = await readOutputs(stage);
  return new URL(ServiceEndpoint).hostname.split('.', 1)[0] ?? '';
}

/** The emulator stores the rates, and enforces none. */
async function checkThrottling(): Promise<void> {
  const { methodSettings } = await new APIGatewayClient().send(
    new GetStageCommand({ restApiId: await findApiId(), stageName: stage }),
  );
  assert.equal(methodSettings?.['*/*']?.throttlingRateLimit, 500);
  assert.equal(methodSettings?.['/~1token/POST']?.throttlingRateLimit, 5);
}

function findVersion(): string {
  const args = ['run', '--silent', 'deployed', '--', '--stage', stage];
  const env = { ...process.env, ...deployer };
  return spawnSync('npm', args, { encoding: 'utf8', env }).stdout.trim();
}

function run(script: string, ...args: readonly string[]): void {
  const { status } = spawnSync('npm', ['run', script, '--', '--stage', stage, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...deployer },
  });
  assert.equal(status, 0, `npm run ${script} failed`);
}

function step(title: string): void {
  process.stdout.write(`\n--- ${title}\n`);
}
