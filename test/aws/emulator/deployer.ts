import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CloudFormation, waitUntilStackCreateComplete } from '@aws-sdk/client-cloudformation';
import { IAM } from '@aws-sdk/client-iam';
import { findStack } from '../../../serverless/deploy/stack.ts';

const maxWaitTime = 60; // seconds

/** IAM's limit for a managed policy, in characters without white space. */
const maxPolicyLength = 6_144;

/** The optional parameters of the stack. The emulator's CloudFormation makes no OIDC provider. */
const parameters = {
  Repository: 'owner/name',
  OwnerId: '123',
  RepositoryId: '456',
  HostedZoneId: 'Z0123456789',
  OidcProviderArn: 'arn:aws:iam::000000000000:oidc-provider/token.actions.githubusercontent.com',
};

/**
 * Makes the deployer stack of a stage, and a user with its policy and no other rights.
 *
 * @returns the user's credentials, as environment variables, and the permissions boundary of the stage's roles
 */
export async function createDeployer(stage: string) {
  const client = new CloudFormation();
  const StackName = `book-catalog-deployer-${stage}`;
  // Lambda names the function in each request of its code. The emulator does not, but begins the session with its name.
  const template = readFileSync('serverless/resources/deployer.yml', 'utf8');
  const condition = /ArnLike:\s+lambda:SourceFunctionArn: !Sub arn:.*:function:(.*)/;
  assert.match(template, condition);
  await client.createStack({
    StackName,
    TemplateBody: template.replace(condition, "StringLike: { aws:userid: !Sub '*:$1' }"),
    Parameters: Object.entries({ ...parameters, Stage: stage }).map(([ParameterKey, ParameterValue]) => ({
      ParameterKey,
      ParameterValue,
    })),
    Capabilities: ['CAPABILITY_IAM'],
  });
  await waitUntilStackCreateComplete({ client, maxWaitTime }, { StackName });
  const { DeployRoleArn = '', DeployPolicyArn = '', BoundaryArn = '' } = (await findStack(StackName))?.outputs ?? {};
  await checkPipelineRole(DeployRoleArn, DeployPolicyArn, stage);
  return { credentials: await createUser(`deployer-${stage}`, [DeployPolicyArn]), boundary: BoundaryArn };
}

/** Checks that the role trusts one environment of one repository, in both forms of its name at GitHub, and has the policy. */
async function checkPipelineRole(arn: string, policyArn: string, environment: string): Promise<void> {
  const RoleName = arn.slice(arn.lastIndexOf('/') + 1);
  const { Role } = await new IAM().getRole({ RoleName });
  const [trust, ...others] = JSON.parse(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? '')).Statement;
  assert.deepEqual(others, []);
  assert.equal(trust.Action, 'sts:AssumeRoleWithWebIdentity');
  assert.deepEqual(trust.Condition, {
    StringEquals: {
      'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
      'token.actions.githubusercontent.com:sub': [
        `repo:owner/name:environment:${environment}`,
        `repo:owner@123/name@456:environment:${environment}`,
      ],
    },
  });
  const { Policy } = await new IAM().getPolicy({ PolicyArn: policyArn });
  const version = { PolicyArn: policyArn, VersionId: Policy?.DefaultVersionId };
  const { PolicyVersion } = await new IAM().getPolicyVersion(version);
  const document = JSON.parse(decodeURIComponent(PolicyVersion?.Document ?? ''));
  assert.ok(JSON.stringify(document).length <= maxPolicyLength);
  const { AttachedPolicies } = await new IAM().listAttachedRolePolicies({ RoleName });
  assert.deepEqual(
    AttachedPolicies?.map(({ PolicyArn }) => PolicyArn),
    [policyArn],
  );
}

/**
 * Makes a user with the policies and the permissions boundary of some ARNs.
 *
 * @returns the user's credentials, as environment variables
 */
export async function createUser(
  UserName: string,
  policies: readonly string[],
  boundary?: string,
): Promise<NodeJS.ProcessEnv> {
  const iam = new IAM();
  await iam.createUser({ UserName, PermissionsBoundary: boundary });
  for (const PolicyArn of policies) await iam.attachUserPolicy({ UserName, PolicyArn });
  // The emulator treats it as an action without a resource.
  await iam.putUserPolicy({
    UserName,
    PolicyName: 'emulator',
    PolicyDocument: JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: 'dynamodb:TagResource',
          Resource: '*',
        },
      ],
    }),
  });
  const { AccessKey } = await iam.createAccessKey({ UserName });
  return { AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey };
}

/** Credentials of environment variables for a client of the SDK. */
export function toClientConfig({ AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' }: NodeJS.ProcessEnv) {
  return { credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } };
}

const arn = (service: string, rest: string) => `arn:aws:${service}:eu-west-1:000000000000:${rest}`;

/** Requests of a deploy for the resources of a stage: 6 actions. */
function requestsOf(name: string) {
  return {
    [arn('cloudformation', `stack/${name}/0a1b`)]: 'cloudformation:UpdateStack ContinueUpdateRollback',
    [arn('dynamodb', `table/${name}`)]: 'dynamodb:UpdateTable',
    [arn('lambda', `function:${name}-getBook`)]: 'lambda:UpdateFunctionCode',
    [arn('secretsmanager', `secret:${name}-signing-0a1b-A1b2C3`)]: 'secretsmanager:GetSecretValue',
    [`arn:aws:s3:::${name}-serverlessdeploymentbucket-1a2b`]: 's3:DeleteBucket',
  };
}

/** Checks what the deployer of a stage must not do, and what it has to be allowed. */
export async function checkDeployerLimits(stage: string, boundary: string): Promise<void> {
  assert.equal((await findAllowed('deployer-prod', requestsOf(`book-catalog-${stage}`))).length, 6);

  const items = 'GetItem BatchGetItem Query Scan PutItem UpdateItem DeleteItem BatchWriteItem';
  const copies = 'PartiQLSelect ExportTableToPointInTime RestoreTableToPointInTime CreateBackup';
  const table = arn('dynamodb', `table/book-catalog-${stage}`);
  const role = 'arn:aws:iam::000000000000:role';
  const forbidden = {
    ...requestsOf('book-catalog-dev'),
    ...requestsOf('book-catalog-alice'),
    [table]: `dynamodb:${items} ${copies} PutResourcePolicy DeleteTable`,
    [`${table}/stream/2026`]: 'dynamodb:GetRecords',
    [boundary]: 'iam:CreatePolicyVersion SetDefaultPolicyVersion DeletePolicy',
    // The emulator does not know the boundary of a request, so it refuses every role.
    [`${role}/book-catalog-${stage}-other`]:
      'iam:CreateRole AttachRolePolicy PutRolePolicy PutRolePermissionsBoundary DeleteRolePermissionsBoundary UpdateAssumeRolePolicy',
    [arn('sns', 'of-somebody-else:0a1b')]: 'sns:SetSubscriptionAttributes',
    [`${role}/Admin`]: 'iam:CreateRole PassRole UpdateAssumeRolePolicy',
    'arn:aws:iam::000000000000:user/anybody': 'iam:CreateUser CreateAccessKey',
  };
  assert.deepEqual(await findAllowed('deployer-prod', forbidden), []);
}

/**
 * Decides actions of a user on resources as the emulator's IAM does, without conditions.
 *
 * @param requests - for each resource its actions, like `dynamodb:GetItem Query`
 * @returns the allowed ones of them
 */
async function findAllowed(UserName: string, requests: Readonly<Record<string, string>>): Promise<string[]> {
  const iam = new IAM();
  const { User } = await iam.getUser({ UserName });
  const allowed: string[] = [];
  for (const [resource, actions] of Object.entries(requests)) {
    const [service, names = ''] = actions.split(':');
    const { EvaluationResults = [] } = await iam.simulatePrincipalPolicy({
      PolicySourceArn: User?.Arn,
      ActionNames: names.split(' ').map((name) => `${service}:${name}`),
      ResourceArns: [resource],
    });
    assert.equal(EvaluationResults.length, names.split(' ').length);
    for (const { EvalActionName, EvalDecision } of EvaluationResults) {
      if (EvalDecision === 'allowed') allowed.push(`${EvalActionName} on ${resource}`);
    }
  }
  return allowed;
}
