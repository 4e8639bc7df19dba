import { readFileSync } from 'node:fs';
import { holds, parseTemplate, resolveIntrinsics } from '../../simulators/cloudformation.ts';
import { type Statement, toList } from '../../simulators/iam.ts';
import { findResources, type Template } from './template.ts';

/** Where the stages of these tests would be. Long names, for the limits of lengths. */
export const place = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'ap-southeast-2',
  'AWS::AccountId': '123456789012',
  'AWS::URLSuffix': 'amazonaws.com',
} as const;

const { 'AWS::Region': region, 'AWS::AccountId': account } = place;

/** The permissions boundary that the stack makes for a stage. */
export const boundaryOf = (stage: string): string => arnOfPolicy(stage, 'Boundary');

/** The resources of serverless/resources/deployer.yml, with its functions resolved. */
// biome-ignore lint/suspicious/noExplicitAny: each type of resource has a shape of its own
type DeployerResources = Readonly<Record<string, any>>;

/** The parameters of the stack, each of which is optional. */
const parameters = {
  Repository: 'owner/name',
  OwnerId: '123',
  RepositoryId: '456',
  HostedZoneId: 'Z0123456789ABCDEFGHIJ',
};

/** Reads serverless/resources/deployer.yml as CloudFormation would make it, with every parameter set. */
export function readDeployer(stage: string): DeployerResources {
  const text = readFileSync('serverless/resources/deployer.yml', 'utf8');
  const stack = parseTemplate(text) as Record<'Parameters' | 'Conditions' | 'Resources', DeployerResources>;
  const defaults = Object.entries(stack.Parameters).map(([name, { Default }]) => [name, Default ?? '']);
  const policies = Object.keys(stack.Resources).map((id) => [id, arnOfPolicy(stage, id)]);
  const values = {
    refs: { ...place, ...Object.fromEntries([...defaults, ...policies]), ...parameters, Stage: stage },
    conditions: stack.Conditions,
  };
  return Object.fromEntries(
    Object.entries(stack.Resources)
      .filter(([, { Condition }]) => Condition === undefined || holds({ Condition }, values))
      .map(([id, resource]) => [id, resolveIntrinsics(resource, values)]),
  );
}

/** The statements of one of its policies. */
export function statementsOf(resources: DeployerResources, id: string): readonly Statement[] {
  return resources[id].Properties.PolicyDocument.Statement;
}

/** What the pipeline may do. */
export function deployStatements(resources: DeployerResources): readonly Statement[] {
  return ['DeployPolicy', 'ResourcesPolicy'].flatMap((id) => statementsOf(resources, id));
}

/** Reads the statements of the roles in a packaged template, by logical id, with the ARNs of its resources. */
export function readRoleStatements(template: Template): ReadonlyMap<string, readonly Statement[]> {
  const values = { refs: place, attributes: attributesOf(template) };
  return new Map(
    Object.entries(findResources(template, 'AWS::IAM::Role')).map(([id, { Properties }]) => [
      id,
      toList<{ PolicyDocument: unknown }>(Properties.Policies ?? []).flatMap(({ PolicyDocument }) => {
        const { Statement } = resolveIntrinsics(PolicyDocument, values) as { Statement: Statement[] };
        return Statement;
      }),
    ]),
  );
}

function attributesOf({ Resources }: Template): Readonly<Record<string, string>> {
  const arns = Object.entries(Resources).flatMap(([id, { Type, Properties }]) => {
    const { LogGroupName: group, TableName: table } = Properties;
    if (Type === 'AWS::Logs::LogGroup') return [[id, `logs:${region}:${account}:log-group:${group}:*`]];
    if (Type === 'AWS::DynamoDB::Table') return [[id, `dynamodb:${region}:${account}:table/${table}`]];
    return [];
  });
  return Object.fromEntries(arns.map(([id, arn]) => [`${id}.Arn`, `arn:aws:${arn}`]));
}

function arnOfPolicy(stage: string, id: string): string {
  return `arn:aws:iam::${account}:policy/book-catalog-deployer-${stage}-${id}-1A2B3C4D5E6F7`;
}
