import { execFile } from 'node:child_process';
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

/** @returns what the deploy printed before it was refused, and what it requested */
async function deploy(account: Account, options: readonly string[] = []) {
  const { env, operations } = await startAccount(account);
  const { PATH, HOME } = process.env;
  const args = ['serverless/main.js', 'deploy', '--stage', 'prod', ...options];
  const printed = await new Promise<string>((done) => {
    execFile(process.execPath, args, { env: { PATH, HOME, ...env } }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
  return { printed, operations };
}
