import { readFileSync } from 'node:fs';
import { CloudFormation, waitUntilStackCreateComplete } from '@aws-sdk/client-cloudformation';
import { IAM } from '@aws-sdk/client-iam';

const StackName = 'book-catalog-deployer';
const maxWaitTime = 60; // seconds

/**
 * Makes a user with the rights of the pipeline for a stage (serverless/resources/deployer.yml), and no others.
 *
 * @returns the user's credentials, as environment variables
 */
export async function createDeployer(stage: string): Promise<NodeJS.ProcessEnv> {
  const client = new CloudFormation();
  await client.createStack({
    StackName,
    TemplateBody: readFileSync('serverless/resources/deployer.yml', 'utf8'),
    Parameters: [{ ParameterKey: 'Stage', ParameterValue: stage }],
    Capabilities: ['CAPABILITY_IAM'],
  });
  await waitUntilStackCreateComplete({ client, maxWaitTime }, { StackName });
  const { Stacks } = await client.describeStacks({ StackName });
  const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'DeployPolicyArns');
  const credentials = await createUser('deployer', output?.OutputValue?.split(' ') ?? []);
  // The emulator treats these as actions without a resource. In AWS they apply to the path and the alarms.
  const Action = ['cloudwatch:DescribeAlarms', 'ssm:GetParametersByPath'];
  await new IAM().putUserPolicy({
    UserName: 'deployer',
    PolicyName: 'emulator',
    PolicyDocument: JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action, Resource: '*' }],
    }),
  });
  return credentials;
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
  const { AccessKey } = await iam.createAccessKey({ UserName });
  return { AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey };
}
