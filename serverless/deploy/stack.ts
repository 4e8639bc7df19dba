import {
  CloudFormation,
  type CloudFormationClientConfig,
  CloudFormationServiceException,
  type Tag,
} from '@aws-sdk/client-cloudformation';
import { settingsPath } from './settings.ts';
import type { StageParameters } from './stage-parameters.ts';

/** What CloudFormation knows of the stack of a stage. */
export interface StageStack {
  readonly status: string;
  /** By name. */
  readonly outputs: Readonly<Record<string, string | undefined>>;
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly tags: readonly Tag[];
}

type DomainParameters = Pick<StageParameters, 'domainName' | 'certificateArn' | 'hostedZoneId'>;

/** @returns the name of a stage's stack, which is also the name of the table that the stack creates */
export function stackNameOf(stage: string): string {
  return `book-catalog-${stage}`;
}

/** @returns the stack, or `undefined` when there is none in the account and region */
export async function findStack(
  StackName: string,
  config: CloudFormationClientConfig = {},
): Promise<StageStack | undefined> {
  try {
    const { Stacks } = await new CloudFormation(config).describeStacks({ StackName });
    const { StackStatus = '', Outputs = [], Parameters = [], Tags = [] } = Stacks?.[0] ?? {};
    const outputs = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
    const values = Parameters.map(({ ParameterKey, ParameterValue }) => [ParameterKey, ParameterValue]);
    const parameters = Object.fromEntries(values);
    return { status: StackStatus, outputs: Object.fromEntries(outputs), parameters, tags: Tags };
  } catch (error) {
    const isMissing = error instanceof CloudFormationServiceException && error.name === 'ValidationError';
    if (isMissing) return undefined;
    throw error;
  }
}

/**
 * Finds the version that a stack runs.
 *
 * @returns its timestamp, the option of a rollback, or `undefined` when there is no stack
 */
export async function findVersion(
  StackName: string,
  config: CloudFormationClientConfig = {},
): Promise<string | undefined> {
  if ((await findStack(StackName, config)) === undefined) return undefined;
  const { TemplateBody = '' } = await new CloudFormation(config).getTemplate({ StackName });
  // The key of an artifact: `serverless/SERVICE/STAGE/1795252492369-2026-…/x.zip`.
  return /"serverless\/[^/]+\/[^/]+\/(\d+)-/.exec(TemplateBody)?.[1];
}

/**
 * Compares the custom domain of a stack with its settings. A deploy without them would delete the domain.
 *
 * @param unset - the settings that the deploy leaves out on purpose
 * @returns what to do when some are lost
 */
export function findDomainConflict(
  stage: string,
  { outputs }: StageStack,
  parameters: DomainParameters,
  unset: readonly string[],
): string | undefined {
  const { ServiceEndpoint = '', ExecuteApiEndpoint, CertificateArn, HostedZoneId } = outputs;
  const domainName = ExecuteApiEndpoint === undefined ? undefined : new URL(ServiceEndpoint).hostname;
  const used = Object.entries({ domainName, certificateArn: CertificateArn, hostedZoneId: HostedZoneId });
  const lost = used.flatMap(([name, value]) =>
    value === undefined || parameters[name as keyof DomainParameters] !== '' || unset.includes(name)
      ? []
      : [{ name, put: `aws ssm put-parameter --type String --name ${settingsPath(stage)}/${name} --value ${value}` }],
  );
  if (lost.length === 0) return undefined;
  return [
    `The stage has the domain name ${domainName}, and these settings are lost: ${lost.map(({ name }) => name).join(', ')}.`,
    'To keep the domain:',
    ...lost.map(({ put }) => `  ${put}`),
    `To give it up: npm run deploy -- --stage ${stage} ${lost.map(({ name }) => `--unset ${name}`).join(' ')}`,
  ].join('\n');
}

/**
 * Chooses the endpoint access mode of the API, unless a setting says it. A new API has AWS's recommended one. An API in use
 * keeps its own, and begins with BASIC: STRICT refuses some clients, and each way back takes the API down for minutes
 * (docs/operations.md, "TLS").
 */
export function chooseAccessMode(stack: StageStack | undefined): string {
  return stack === undefined ? 'STRICT' : (stack.outputs.EndpointAccessMode ?? 'BASIC');
}

/** @returns why a stack in this status cannot be deployed to, and what to do, or `undefined` when it can */
export function findObstacle(stage: string, status: string): string | undefined {
  const name = stackNameOf(stage);
  const remove = `npm run remove -- --stage ${stage}`;
  const deleteStack = `aws cloudformation delete-stack --stack-name ${name}`;
  // For other statuses, CloudFormation's own messages are clear enough.
  const remedies: Readonly<Record<string, string>> = {
    REVIEW_IN_PROGRESS: `Its first deploy never began. Delete what is left, and deploy again: ${remove}`,
    ROLLBACK_COMPLETE: `Its first deploy failed. Delete what is left, and deploy again: ${deleteStack}`,
    ROLLBACK_FAILED: `Its first deploy failed, and something of it could not be deleted. Its events say why (docs/incidents.md). Then delete what is left, and deploy again: ${deleteStack}`,
    DELETE_FAILED: `A removal stopped midway. Its events say why (docs/incidents.md). Then remove what is left, and deploy again: ${remove}`,
    UPDATE_ROLLBACK_FAILED: `A rollback stopped midway. Continue it, and deploy again (docs/incidents.md): aws cloudformation continue-update-rollback --stack-name ${name}`,
  };
  return remedies[status] && `The stack ${name} is in ${status}. ${remedies[status]}`;
}
