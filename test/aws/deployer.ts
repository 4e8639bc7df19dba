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
} from '@aws-sdk/client-iam';

const stackName = 'book-catalog-deployer';
const maxWaitSeconds = 60;

/**
 * Makes a user that may do what infrastructure/deployer.yml lets the pipeline do, and no more.
 *
 * @param stage - the stage to deploy
 * @returns the user's credentials, as environment variables
 */
export async function createDeployer(stage: string): Promise<NodeJS.ProcessEnv> {
  const cloudFormation = new CloudFormationClient();
  await cloudFormation.send(
    new CreateStackCommand({
      StackName: stackName,
      TemplateBody: readFileSync('infrastructure/deployer.yml', 'utf8'),
      Parameters: [{ ParameterKey: 'Stage', ParameterValue: stage }],
      Capabilities: ['CAPABILITY_IAM'],
    }),
  );
  await waitUntilStackCreateComplete(
    { client: cloudFormation, maxWaitTime: maxWaitSeconds },
    { StackName: stackName },
  );
  const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackName }));
  const policy = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'DeployPolicyArn')?.OutputValue;

  const iam = new IAMClient();
  const UserName = 'deployer';
  await iam.send(new CreateUserCommand({ UserName }));
  await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: policy }));
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
  return { AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey };
}
