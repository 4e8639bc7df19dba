import { readFileSync } from 'node:fs';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import {
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateUserCommand,
  IAMClient,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';

const userName = 'deployer';
const stackName = 'book-catalog-deployer';
const maxWaitSeconds = 60;

/**
 * Makes a user that may do what serverless/resources/deployer.yml lets the pipeline do, and no more.
 *
 * @param stage - the stage to deploy
 * @returns the user's credentials, as environment variables
 */
export async function createDeployer(stage: string): Promise<NodeJS.ProcessEnv> {
  const cloudFormation = new CloudFormationClient();
  await cloudFormation.send(
    new CreateStackCommand({
      StackName: stackName,
      TemplateBody: readFileSync('serverless/resources/deployer.yml', 'utf8'),
      Parameters: [{ ParameterKey: 'Stage', ParameterValue: stage }],
      Capabilities: ['CAPABILITY_IAM'],
    }),
  );
  await waitUntilStackCreateComplete(
    { client: cloudFormation, maxWaitTime: maxWaitSeconds },
    { StackName: stackName },
  );
  const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackName }));
  const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'DeployPolicyArns');
  const credentials = await createUser(userName, output?.OutputValue?.split(' ') ?? []);
  // The emulator takes these for actions on no resource. In AWS they are on the path and on the alarms.
  const statement = {
    Effect: 'Allow',
    Action: ['cloudwatch:DescribeAlarms', 'ssm:GetParametersByPath'],
    Resource: '*',
  };
  await new IAMClient().send(
    new PutUserPolicyCommand({
      UserName: userName,
      PolicyName: 'emulator',
      PolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
    }),
  );
  return credentials;
}

/**
 * Makes a user.
 *
 * @param name - the user's name
 * @param policies - the ARNs of the user's policies
 * @param boundary - the ARN of the user's permissions boundary
 * @returns the user's credentials, as environment variables
 */
export async function createUser(
  name: string,
  policies: readonly string[],
  boundary?: string,
): Promise<NodeJS.ProcessEnv> {
  const iam = new IAMClient();
  await iam.send(new CreateUserCommand({ UserName: name, PermissionsBoundary: boundary }));
  for (const policy of policies) {
    await iam.send(new AttachUserPolicyCommand({ UserName: name, PolicyArn: policy }));
  }
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: name }));
  return { AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey };
}
