import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Account, startAccount } from '../../simulators/aws-account.ts';

const secrets = { signing: 'a'.repeat(64), login: '{"username":"admin","password":"secret"}' };
const ofSecrets = { SigningSecret: 'signing', CredentialsSecret: 'login' };
const deployed: Account = { outputs: ofSecrets, secrets };
const withDomain: Account = {
  outputs: {
    ...ofSecrets,
    ServiceEndpoint: 'https://api.example.com',
    ExecuteApiEndpoint: 'https://a1.execute-api.eu-west-1.amazonaws.com/prod',
  },
  secrets,
};
const noStack =
  'There is no stack book-catalog-prod in account 123456789012, region eu-west-1. To create it, add --yes.';

/** What the checks ask for. */
const checks = ['GetCallerIdentity', 'GetParametersByPath', 'DescribeStacks', 'GetSecretValue'];

/** The end of the checks: the deploy packages the service and asks CloudFormation, which this account refuses. */
const passed = 'The account refuses';

test.each<[string, Account, readonly string[], string]>([
  ['a stage that does not exist', {}, [], noStack],
  ['a stage that does not exist, with --yes', {}, ['--yes'], passed],
  ['a stage with a domain name whose settings are lost', withDomain, [], 'these settings are lost: domainName.'],
  [
    'the same, and of a setting that is wrong, without both on purpose',
    { ...withDomain, settings: { '/book-catalog/prod/probe': 'wrong' } },
    ['--unset', 'domainName', '--unset', 'probe'],
    passed,
  ],
  ['--unset of what is no setting', deployed, ['--unset', 'domain'], '--unset domain names no setting. Settings are '],
])('a deploy of %s', async (_, account, options, message) => {
  const { printed, operations } = await deploy(account, options);

  expect(printed).toContain('Account 123456789012, region eu-west-1, stage prod');
  expect(printed).toContain(message);
  expect(operations.every((operation) => checks.includes(operation))).toBe(message !== passed);
});

// AWS advises BASIC first for an API in use, and a rollback from STRICT takes it down for minutes.
test.each<[string, Account, string]>([
  ['that does not exist begins with STRICT', {}, 'STRICT'],
  ['that was deployed before there was a policy begins with BASIC', deployed, 'BASIC'],
  ['that has STRICT keeps it', { ...deployed, outputs: { ...ofSecrets, EndpointAccessMode: 'STRICT' } }, 'STRICT'],
  ['that has BASIC keeps it', { ...deployed, outputs: { ...ofSecrets, EndpointAccessMode: 'BASIC' } }, 'BASIC'],
  [
    'that has BASIC follows its setting',
    {
      outputs: { ...ofSecrets, EndpointAccessMode: 'BASIC' },
      secrets,
      settings: { '/book-catalog/prod/endpointAccessMode': 'STRICT' },
    },
    'STRICT',
  ],
])('the API of a stage %s', async (_, account, mode) => {
  const { printed } = await deploy(account, ['--yes']);

  expect(printed).toContain(passed);
  expect(readDeployed().ApiGatewayRestApi.Properties.EndpointAccessMode).toBe(mode);
});

const logsRole = 'arn:aws:iam::123456789012:role/book-catalog-prod-ApiGatewayLogsRole-1A2B';

test.each<[string, Account, boolean]>([
  ["leaves API Gateway's role for access logs to the stage that made it", { logsRole }, false],
  ['makes that role in an account without one', {}, true],
])('a temporary stage is created without a question, and %s', async (_, account, makesRole) => {
  const { printed } = await deploy(account, [], 'pr-12');

  expect(printed).toContain(passed);
  const { ApiGatewayAccount, ApiGatewayLogsRole, ApiGatewayStage } = readDeployed();
  const expected = makesRole ? ['AWS::ApiGateway::Account', 'AWS::IAM::Role', 'ApiGatewayAccount'] : [];
  const found = [ApiGatewayAccount?.Type, ApiGatewayLogsRole?.Type, ApiGatewayStage.DependsOn].flat();
  expect(found.filter(Boolean)).toEqual(expected);
});

test('a stage that lasts makes the role, whoever else has', async () => {
  await deploy({ logsRole }, ['--yes']);

  expect(readDeployed().ApiGatewayAccount.Type).toBe('AWS::ApiGateway::Account');
});

test('a temporary stage has the settings of dev and of its pattern, and nothing that belongs to dev alone', async () => {
  const ofDev = {
    ...{ tokenLifetime: '60', corsOrigin: 'https://dev.example.com', requestsPerAddress: '100' },
    ...{ alarmEmail: 'dev@example.com', monthlyBudget: '5', listConcurrency: '5' },
    ...{ domainName: 'dev.example.com', certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1' },
    ...{ hostedZoneId: 'Z1', permissionsBoundary: 'arn:aws:iam::123456789012:policy/dev' },
  };
  const policy = 'arn:aws:iam::123456789012:policy/pr';
  const toSettings = (path: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => [`/book-catalog/${path}/${name}`, value]);
  const settings = Object.fromEntries([
    ...toSettings('dev', ofDev),
    ...toSettings('pr-', {
      corsOrigin: 'https://pr.example.com',
      permissionsBoundary: policy,
      requestsPerAddress: '200',
    }),
    ...toSettings('pr-12', { requestsPerAddress: '300' }),
    ...toSettings('pr-13', { corsOrigin: 'https://pr-13.example.com' }),
  ]);
  expect(Object.keys(settings)).toHaveLength(16);

  const { printed } = await deploy({ settings, logsRole }, [], 'pr-12');

  expect(printed).toContain(passed);
  const resources = readDeployed();
  const { Variables } = resources.CreateTokenLambdaFunction.Properties.Environment;
  expect([Variables.TOKEN_LIFETIME, Variables.CORS_ORIGIN]).toEqual(['60', 'https://pr.example.com']);
  expect(JSON.stringify(resources.AddressLimit)).toContain('"Limit":"300"');
  expect(resources.GetBookRole.Properties.PermissionsBoundary).toBe(policy);
  const text = readFileSync(templateFile, 'utf8');
  for (const name of ['alarmEmail', 'domainName', 'hostedZoneId'] as const) {
    expect(text).not.toContain(`"${ofDev[name]}"`);
  }
  const types = Object.values<{ readonly Type: string }>(resources).map(({ Type }) => Type);
  expect(types.filter((type) => /Budget|DomainName|RecordSet/.test(type))).toEqual([]);
  expect(resources.ListBooksLambdaFunction.Properties.ReservedConcurrentExecutions).toBeUndefined();
});

const wrongLogin = 'The secret login has to hold JSON like {"username":"…","password":"…"}, each a text of more than';
const toBeDeleted = { __type: 'InvalidRequestException', message: 'It was marked for deletion.' };

test.each<[string, Account['secrets'], string]>([
  ['an empty password', { ...secrets, login: '{"username":"admin","password":""}' }, wrongLogin],
  ['no password', { ...secrets, login: '{"username":"admin"}' }, wrongLogin],
  ['a password of blanks', { ...secrets, login: '{"username":"admin","password":" "}' }, wrongLogin],
  ['a password that is a number', { ...secrets, login: '{"username":"admin","password":81726354}' }, wrongLogin],
  ['a password as its whole text', { ...secrets, login: 'the password' }, wrongLogin],
  ['null', { ...secrets, login: 'null' }, wrongLogin],
  ['an empty signing secret', { ...secrets, signing: '' }, 'The secret signing has to hold a text of more than'],
  [
    'a login that is to be deleted',
    { ...secrets, login: toBeDeleted },
    'The secret login cannot be read: It was marked for deletion. Restore it: aws secretsmanager restore-secret --secret-id login',
  ],
  [
    'a login that is deleted, so that CloudFormation may replace it',
    { ...secrets, login: { __type: 'ResourceNotFoundException', message: '' } },
    passed,
  ],
])('a deploy with %s', async (_, values = {}, message) => {
  const { printed, operations } = await deploy({ ...deployed, secrets: values });

  expect(printed).toContain(message);
  expect(operations.every((operation) => checks.includes(operation))).toBe(message !== passed);
  for (const value of ['the password', '81726354']) expect(printed).not.toContain(value);
});

const templateFile = '.serverless/cloudformation-template-update-stack.json';

/** @returns the resources of the template that the last deploy has packaged */
function readDeployed() {
  return JSON.parse(readFileSync(templateFile, 'utf8')).Resources;
}

/** @returns what the deploy printed before it was refused, and what it requested */
async function deploy(account: Account, options: readonly string[] = [], stage = 'prod') {
  const { env, operations } = await startAccount(account);
  const { PATH, HOME } = process.env;
  const args = ['serverless/main.js', 'deploy', '--stage', stage, ...options];
  const printed = await new Promise<string>((done) => {
    execFile(process.execPath, args, { env: { PATH, HOME, ...env } }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
  return { printed, operations };
}
