import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startAccount } from '../../simulators/aws-account.ts';

const logsRole = 'arn:aws:iam::123456789012:role/book-catalog-prod-ApiGatewayLogsRole-1A2B';

test('a deploy says first where it goes, and asks nothing', async () => {
  const { printed, operations } = await deploy('prod');

  expect(printed).toContain('Account 123456789012, region eu-west-1, stage prod');
  expect(operations[0]).toBe('GetCallerIdentity');
});

test.each<[string, string, string | undefined, boolean]>([
  ["a temporary stage leaves API Gateway's role for access logs to the stage that made it", 'alice', logsRole, false],
  ['a temporary stage makes that role in an account without one', 'alice', undefined, true],
  ['a permanent stage makes that role, whoever else has', 'prod', logsRole, true],
])('%s', async (_, stage, role, makesRole) => {
  await deploy(stage, role);

  const { ApiGatewayAccount, ApiGatewayLogsRole, ApiGatewayStage } = readDeployed();
  const expected = makesRole ? ['AWS::ApiGateway::Account', 'AWS::IAM::Role', 'ApiGatewayAccount'] : [];
  const found = [ApiGatewayAccount?.Type, ApiGatewayLogsRole?.Type, ApiGatewayStage.DependsOn].flat();
  expect(found.filter(Boolean)).toEqual(expected);
});

/** @returns the resources of the template that the last deploy has packaged */
function readDeployed() {
  return JSON.parse(readFileSync('.serverless/cloudformation-template-update-stack.json', 'utf8')).Resources;
}

/** Deploys, until CloudFormation is asked, which this account refuses. @returns what it printed, and what it requested */
async function deploy(stage: string, role?: string) {
  const { env, operations } = await startAccount(role);
  const { PATH, HOME } = process.env;
  const args = ['serverless/main.js', 'deploy', '--stage', stage];
  const printed = await new Promise<string>((done) => {
    execFile(process.execPath, args, { env: { PATH, HOME, ...env } }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
  expect(printed).toContain('The account refuses');
  return { printed, operations };
}
