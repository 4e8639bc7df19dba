import { describe, expect, test } from 'vitest';
import { resolveIntrinsics } from '../../simulators/cloudformation.ts';
import { type AccessRequest, allows, type Statement, toList } from '../../simulators/iam.ts';
import { handlersOf, resourceTypesOf, takes } from './aws-definitions.ts';
import {
  boundaryOf,
  deployStatements,
  place,
  readDeployer,
  readRoleStatements,
  statementsOf,
} from './statements.ts';
import { findResources, type Resource, readTemplate } from './template.ts';

const region = place['AWS::Region'];
const account = place['AWS::AccountId'];
const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:${account}:${rest}`;
const api = (path: string) => `arn:aws:apigateway:${region}::${path}`;

/** CloudFormation's name for a resource without a name in the template. */
const named = (id: string, stage: string) => `book-catalog-${stage}-${id}-1A2B3C4D5E6F`;
const role = (id: string, stage: string) => `arn:aws:iam::${account}:role/${named(id, stage)}`;
const bucket = (stage: string) =>
  `arn:aws:s3:::book-catalog-${stage}-serverlessdeploymentbucket-1a2b3c4d5e6f`;
const logs = (group: string) => arn('logs', `log-group:${group}`);
const secret = (name: string) => arn('secretsmanager', `secret:${name}`);
const webAcl = (stage: string) => arn('wafv2', `regional/webacl/book-catalog-${stage}/0a1b2c3d`);

/** A collection of API Gateway's, and a member of it. */
const member = (collection: string, name: string) => [api(collection), api(`${collection}/${name}`)];
const tagged = (collection: string, name: string) => [
  ...member(collection, name),
  api(`/tags/${encodeURIComponent(api(`${collection}/${name}`))}`),
];

/** The ARNs of the resources of each type's handlers; `*` without an ARN. */
const touched: Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: each type of resource has properties of its own
  Record<string, (properties: any, stage: string, id: string) => readonly string[]>
> = {
  'AWS::ApiGateway::Account': (_, stage) => [api('/account'), role('ApiGatewayLogsRole', stage)],
  'AWS::ApiGateway::BasePathMapping': () => member('/domainnames/api.example.com/basepathmappings', '(none)'),
  'AWS::ApiGateway::Deployment': () => member('/restapis/a1b2/deployments', 'c3'),
  'AWS::ApiGateway::DomainName': () => tagged('/domainnames', 'api.example.com'),
  'AWS::ApiGateway::GatewayResponse': () => [api('/restapis/a1b2/gatewayresponses/DEFAULT_4XX')],
  'AWS::ApiGateway::Method': () => member('/restapis/a1b2/resources/c3/methods/GET', 'integration'),
  'AWS::ApiGateway::Resource': () => member('/restapis/a1b2/resources', 'c3'),
  'AWS::ApiGateway::RestApi': () => tagged('/restapis', 'a1b2'),
  'AWS::ApiGateway::Stage': (_, stage) => tagged('/restapis/a1b2/stages', stage),
  'AWS::CloudWatch::Alarm': (_, stage, id) => [arn('cloudwatch', `alarm:${named(id, stage)}`)],
  'AWS::CloudWatch::Dashboard': ({ DashboardName: name }) => [
    `arn:aws:cloudwatch::${account}:dashboard/${name}`,
  ],
  'AWS::DynamoDB::Table': ({ TableName }) => [arn('dynamodb', `table/${TableName}`)],
  'AWS::IAM::Role': (_, stage, id) => [role(id, stage)],
  'AWS::Lambda::Function': ({ FunctionName, Code }, stage, id) => [
    arn('lambda', `function:${FunctionName}`),
    role(id.replace('LambdaFunction', 'Role'), stage),
    `${bucket(stage)}/${Code.S3Key}`,
  ],
  'AWS::Lambda::Permission': (_, stage) => [arn('lambda', `function:book-catalog-${stage}-createToken`)],
  // The form differs between actions.
  'AWS::Logs::LogGroup': ({ LogGroupName: name }) => [logs(name), logs(`${name}:*`)],
  'AWS::Route53::RecordSet': ({ HostedZoneId }) => [
    `arn:aws:route53:::hostedzone/${HostedZoneId}`,
    'arn:aws:route53:::change/C0123456789',
  ],
  'AWS::S3::Bucket': (_, stage) => [bucket(stage)],
  'AWS::S3::BucketPolicy': (_, stage) => [bucket(stage)],
  'AWS::SecretsManager::Secret': ({ Name }) => [
    secret(`${resolveIntrinsics(Name, { refs: { 'AWS::StackId': 'arn/stack/0a1b' } })}-A1b2C3`),
  ],
  'AWS::SNS::Subscription': (_, stage) => [arn('sns', named('AlarmTopic', stage))],
  'AWS::SNS::Topic': (_, stage, id) => [arn('sns', named(id, stage))],
  'AWS::WAFv2::WebACL': (_, stage) => [webAcl(stage)],
  'AWS::WAFv2::WebACLAssociation': (_, stage) => [webAcl(stage), api(`/restapis/a1b2/stages/${stage}`)],
};

const boundedBy = (policy: string) => ({ 'iam:PermissionsBoundary': policy });
const attached = (policy: string) => ({ 'iam:PolicyARN': policy });
const passedTo = (service: string) => ({ 'iam:PassedToService': `${service}.amazonaws.com` });
const accessLogs = 'arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';

/** The condition keys of CloudFormation's request for a type. */
function contextOf(action: string, stage: string, type: string): Readonly<Record<string, string>> {
  const bounded = boundedBy(boundaryOf(stage));
  if (action === 'iam:AttachRolePolicy') return { ...bounded, ...attached(accessLogs) };
  if (action === 'iam:PassRole') return passedTo(type.startsWith('AWS::Lambda') ? 'lambda' : 'apigateway');
  return /^iam:(CreateRole|PutRolePermissionsBoundary|PutRolePolicy)$/.test(action) ? bounded : {};
}

const awsKeys = { "the policies of AWS's own keys allow everybody who comes through the service": /^kms:/ };

/**
 * Actions that handlers may call and that a deploy does not need. A name of a property: they go with that property, which
 * no resource of the type has (reading calls them nevertheless). A sentence: the reason.
 */
const exceptions: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  'AWS::ApiGateway::Method': { 'Integration.Credentials': /^iam:PassRole$/ },
  'AWS::ApiGateway::RestApi': {
    BodyS3Location: /^s3:GetObject$/,
    Body: /^iam:PassRole$/,
  },
  'AWS::DynamoDB::Table': {
    ...awsKeys,
    ImportSourceSpecification: /^dynamodb:(DescribeImport|ImportTable)$|^(logs|s3):/,
    KinesisStreamSpecification: /^dynamodb:.*KinesisStreamingDestination$|^kinesis:/,
    ContributorInsightsSpecification: /^dynamodb:UpdateContributorInsights$/,
    ResourcePolicy: /^dynamodb:(Put|Delete)ResourcePolicy$/,
    'a table has no replicas; AWS::DynamoDB::GlobalTable would make them':
      /Replica$|^iam:CreateServiceLinkedRole$|^dynamodb:(\w+Item|Scan|Query)$/,
  },
  'AWS::IAM::Role': {
    'a boundary is never taken away': /^iam:DeleteRolePermissionsBoundary$/,
  },
  'AWS::Lambda::Function': {
    ...awsKeys,
    'Code.S3ObjectVersion': /^s3:GetObjectVersion$/,
    CapacityProviderConfig: /^lambda:PassCapacityProvider$/,
    CodeSigningConfigArn: /^lambda:(GetCodeSigningConfig|(Put|Delete)FunctionCodeSigningConfig)$/,
    FileSystemConfigs: /^(elasticfilesystem|s3files):/,
    FunctionScalingConfig: /^lambda:PutFunctionScalingConfig$/,
    Layers: /^lambda:GetLayerVersion$/,
    PublishToLatestPublished: /^lambda:PublishVersion$/,
    RecursiveLoop: /^lambda:PutFunctionRecursionConfig$/,
    ReservedConcurrentExecutions: /^lambda:(Put|Delete)FunctionConcurrency$/,
    RuntimeManagementConfig: /^lambda:PutRuntimeManagementConfig$/,
    VpcConfig: /^ec2:/,
  },
  'AWS::Logs::LogGroup': {
    DataProtectionPolicy: /^logs:(PutDataProtectionPolicy|CreateLogDelivery)$|^firehose:/,
    FieldIndexPolicies: /^logs:(Put|Delete)IndexPolicy$/,
    KmsKeyId: /^logs:(Associate|Disassociate)KmsKey$/,
    ResourcePolicyDocument: /^logs:(Put|Delete)ResourcePolicy$/,
    DeletionProtectionEnabled: /^logs:PutLogGroupDeletionProtection$/,
    BearerTokenAuthenticationEnabled: /^logs:PutBearerTokenAuthentication$/,
  },
  'AWS::S3::Bucket': {
    AbacStatus: /^s3:PutBucketAbac$/,
    AccelerateConfiguration: /^s3:PutAccelerateConfiguration$/,
    AccessControl: /^s3:(PutBucketAcl|PutObjectAcl|GetBucketAcl)$/,
    AnalyticsConfigurations: /^s3:(Put|Delete\w*)AnalyticsConfiguration$/,
    CorsConfiguration: /^s3:(PutBucketCORS|DeleteBucketCors)$/,
    IntelligentTieringConfigurations: /^s3:PutIntelligentTieringConfiguration$/,
    InventoryConfigurations: /^s3:PutInventoryConfiguration$/,
    LifecycleConfiguration: /^s3:PutLifecycleConfiguration$/,
    LoggingConfiguration: /^s3:PutBucketLogging$/,
    MetadataConfiguration: /^s3:(Create|Update|Delete)BucketMetadata\w+$|^s3tables:/,
    MetricsConfigurations: /^s3:PutMetricsConfiguration$/,
    NotificationConfiguration: /^s3:PutBucketNotification$/,
    ObjectLockConfiguration: /^s3:PutBucketObjectLockConfiguration$/,
    OwnershipControls: /^s3:PutBucketOwnershipControls$/,
    ReplicationConfiguration: /^s3:PutReplicationConfiguration$|^iam:PassRole$/,
    WebsiteConfiguration: /^s3:(Put|Delete)BucketWebsite$/,
    'the framework empties the bucket, not CloudFormation': /^s3:DeleteObject$/,
  },
  'AWS::SecretsManager::Secret': {
    ReplicaRegions: /^secretsmanager:(ReplicateSecretToRegions|RemoveRegionsFromReplication)$/,
  },
  'AWS::SNS::Subscription': { SubscriptionRoleArn: /^iam:/ },
  'AWS::SNS::Topic': {
    DataProtectionPolicy: /^sns:PutDataProtectionPolicy$/,
    DeliveryStatusLogging: /^iam:/,
  },
  'AWS::WAFv2::WebACL': { MonetizationConfig: /^payments:/ },
  'AWS::WAFv2::WebACLAssociation': {
    'the resource is a stage of API Gateway': /^(?!wafv2:|apigateway:)/,
    'the web ACL is not of another account': /^wafv2:(Get|Put)PermissionPolicy$/,
  },
};

/** Lists actions of one service: `s3:GetObject PutObject` are `s3:GetObject` and `s3:PutObject`. */
function listActions(text: string): readonly string[] {
  const [service, names = ''] = text.split(':');
  return names.split(' ').map((name) => `${service}:${name}`);
}

/** The requests of the commands themselves, without CloudFormation's. */
const calledByCommands = [
  'cloudformation:DeleteStack DescribeStackEvents DescribeStackResource DescribeStackResources DescribeStacks',
  'cloudformation:CreateChangeSet DeleteChangeSet DescribeChangeSet ExecuteChangeSet TagResource UntagResource',
  'cloudformation:GetTemplate ListStackResources ValidateTemplate',
  // CloudFormation may also require these for a change set.
  'cloudformation:CreateStack UpdateStack',
  // Uploads packages, finds those of a rollback, and empties the bucket before its removal.
  's3:DeleteObject DeleteObjectVersion GetBucketLocation ListBucketVersions PutObject',
  'lambda:GetFunctionConfiguration ListVersionsByFunction',
  'ssm:GetParametersByPath',
].flatMap(listActions);

describe.each(['prod', 'dev', 'dev-with-all'])('the deployer of the package %s', (name) => {
  const [stage = ''] = name.split('-');
  const template = readTemplate(name);
  const statements = deployStatements(readDeployer(stage));
  const types = [...new Set(Object.values(template.Resources).map(({ Type }) => Type))].toSorted();

  test.each(types)("may carry out CloudFormation's requests for %s", (type) => {
    const requests = Object.entries(findResources(template, type)).flatMap(([id, resource]) =>
      neededActions(resource).flatMap((action) =>
        resourcesFor(action, touched[type]?.(resource.Properties, stage, id) ?? []).map((resource) => ({
          action,
          resource,
          context: contextOf(action, stage, type),
        })),
      ),
    );

    expect(requests.length).toBeGreaterThan(0);
    expect(refused(statements, requests)).toEqual([]);
  });
});

test('the policies allow exactly what CloudFormation and the commands need', () => {
  const template = readTemplate('dev-with-all');
  const needed = Object.values(template.Resources).flatMap(neededActions);
  const statements = deployStatements(readDeployer('dev'));
  const allowed = statements.flatMap(({ Action }) => toList(Action));
  const afterwards = ['iam:CreateServiceLinkedRole']; // API Gateway requires it
  expect([...new Set(allowed)].toSorted()).toEqual(
    [...new Set([...needed, ...calledByCommands, ...afterwards])].toSorted(),
  );
});

/** Requests of a subject, with what is decided: actions of a service, a resource, and the values of condition keys. */
type Decision = [
  verdict: 'may' | 'may not',
  actions: string,
  resource: string,
  context?: Readonly<Record<string, string>>,
];

function expectDecision(
  statements: readonly Statement[],
  [verdict, actions, resource, context = {}]: Decision,
) {
  for (const action of listActions(actions)) {
    const reason = `${action} with ${JSON.stringify(context)}`;
    expect(allows(statements, { action, resource, context }), reason).toBe(verdict === 'may');
  }
}

describe('the stack', () => {
  const resources = readDeployer('prod');
  const boundary = statementsOf(resources, 'Boundary');
  const iam = (rest: string) => `arn:aws:iam::${account}:${rest}`;
  const table = (stage: string) => arn('dynamodb', `table/book-catalog-${stage}`);
  const own = role('GetBookRole', 'prod');
  const bounded = boundedBy(boundaryOf('prod'));
  const toLambda = { ...bounded, ...passedTo('lambda') };
  const administrator = 'arn:aws:iam::aws:policy/AdministratorAccess';
  const key = arn('kms', 'key/0a1b');
  const through = (service: string) => ({ 'kms:ViaService': `${service}.${region}.amazonaws.com` });
  const linkedRole = (service: string): [string, Record<string, string>] => [
    iam(`role/aws-service-role/${service}.amazonaws.com/AWSServiceRole`),
    { 'iam:AWSServiceName': `${service}.amazonaws.com` },
  ];
  const environmentOf = (name: string) => ({
    'kms:EncryptionContext:aws:lambda:FunctionArn': arn('lambda', `function:${name}`),
  });

  test('trusts one environment of one repository, in both forms of its name at GitHub', () => {
    const { Statement } = resources.DeployRole.Properties.AssumeRolePolicyDocument;
    expect(Statement).toEqual([
      expect.objectContaining({
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
            'token.actions.githubusercontent.com:sub': [
              'repo:owner/name:environment:prod',
              'repo:owner@123/name@456:environment:prod',
            ],
          },
        },
      }),
    ]);
  });

  test('has policies within the size limit of IAM', () => {
    for (const [id, { Type, Properties }] of Object.entries(resources)) {
      if (Type !== 'AWS::IAM::ManagedPolicy') continue;
      expect(JSON.stringify(Properties.PolicyDocument).length, id).toBeLessThanOrEqual(6_144);
    }
  });

  test('makes the boundary a setting of the stage', () => {
    expect(resources.BoundarySetting.Properties).toMatchObject({
      Name: '/book-catalog/prod/permissionsBoundary',
      Value: boundaryOf('prod'),
    });
  });

  const makeRole = 'iam:CreateRole PutRolePolicy PutRolePermissionsBoundary';

  test.each<Decision>([
    // Only the role of API Gateway that an account lacks at first.
    ['may', 'iam:CreateServiceLinkedRole', ...linkedRole('ops.apigateway')],
    ['may not', 'iam:CreateServiceLinkedRole', ...linkedRole('ecs')],
    // Neither the books, nor the table's deletion, nor the settings.
    ['may not', 'dynamodb:GetItem Query Scan PutItem DeleteItem DeleteTable', table('prod')],
    ['may not', 'ssm:PutParameter DeleteParameter', arn('ssm', 'parameter/book-catalog/prod/alarmEmail')],
    // The secrets, the settings and the functions of its own stage only.
    ['may', 'secretsmanager:GetSecretValue', secret('book-catalog-prod-signing-0a1b-A1b2C3')],
    ['may not', 'secretsmanager:GetSecretValue', secret('book-catalog-dev-signing-0a1b-A1b2C3')],
    ['may', 'ssm:GetParametersByPath', arn('ssm', 'parameter/book-catalog/prod/')],
    ['may not', 'ssm:GetParametersByPath', arn('ssm', 'parameter/book-catalog/dev/')],
    ['may', 'lambda:UpdateFunctionCode', arn('lambda', 'function:book-catalog-prod-getBook')],
    ['may not', 'lambda:UpdateFunctionCode', arn('lambda', 'function:book-catalog-dev-getBook')],
    // Roles with the boundary only.
    ['may', makeRole, own, bounded],
    ['may not', makeRole, own, boundedBy(boundaryOf('dev'))],
    ['may not', makeRole, own, boundedBy(administrator)],
    ['may not', makeRole, own],
    // No policy for a role but AWS's for access logs, and that with the boundary only.
    ['may', 'iam:AttachRolePolicy', own, { ...bounded, ...attached(accessLogs) }],
    ['may not', 'iam:AttachRolePolicy', own, attached(accessLogs)],
    ['may not', 'iam:AttachRolePolicy', own, { ...bounded, ...attached(administrator) }],
    // A role keeps its boundary, whose policy stays as it is.
    ['may not', 'iam:DeleteRolePermissionsBoundary', own],
    ['may not', 'iam:CreatePolicyVersion SetDefaultPolicyVersion DeletePolicy', boundaryOf('prod')],
    // Roles of the stage only, passed to Lambda and API Gateway only.
    ['may', 'iam:CreateRole PassRole', own, toLambda],
    ['may not', 'iam:CreateRole PassRole', role('GetBookRole', 'dev'), toLambda],
    ['may not', 'iam:CreateRole PassRole', iam('role/Admin'), toLambda],
    ['may', 'iam:PassRole', own, passedTo('apigateway')],
    ['may not', 'iam:PassRole', own, passedTo('ec2')],
  ])('whoever deploys %s %s on %s', (...decision) => expectDecision(deployStatements(resources), decision));

  const log = 'logs:CreateLogGroup CreateLogStream DescribeLogStreams PutLogEvents';
  const readLog = 'logs:FilterLogEvents GetLogEvents';
  test.each<Decision>([
    // AWS's policy for access logs; reads in API Gateway's own log groups only.
    ['may', log, logs('/aws/api-gateway/book-catalog-dev:*')],
    ['may', readLog, logs('/aws/apigateway/welcome:*')],
    ['may not', readLog, logs('/aws/lambda/book-catalog-prod-getBook:*')],
    ['may', 'logs:DescribeLogGroups', '*'],
    // The keys of AWS for the table and the environment.
    ['may', 'kms:CreateGrant Decrypt DescribeKey Encrypt GenerateDataKey', key, through('dynamodb')],
    ['may', 'kms:Decrypt', key, through('lambda')],
    ['may', 'kms:Decrypt', key, environmentOf('book-catalog-prod-getBook')],
    ['may not', 'kms:Decrypt', key, environmentOf('other')],
    ['may not', 'kms:Decrypt', key, through('s3')],
    // Nothing that no function needs.
    ['may', 'dynamodb:GetItem', table('prod')],
    ['may not', 'dynamodb:GetItem', table('dev')],
    ['may not', 'dynamodb:DeleteTable', table('prod')],
    ['may not', 'secretsmanager:GetSecretValue', secret('book-catalog-prod-signing-a')],
    ['may not', 'iam:CreateUser', iam('user/anybody')],
    ['may not', 'iam:PassRole', own],
    ['may not', 'sts:AssumeRole', iam('role/Admin')],
    ['may not', 's3:GetObject', `${bucket('prod')}/template.json`],
  ])('within the boundary a role %s %s on %s', (...decision) => expectDecision(boundary, decision));

  test("has a boundary that allows everything in the functions' roles", () => {
    const requests = [...readRoleStatements(readTemplate()).values()]
      .flat()
      .flatMap(({ Action, Resource }) =>
        toList(Action).flatMap((action) => toList(Resource).map((resource) => ({ action, resource }))),
      );
    expect(requests.length).toBeGreaterThan(30);
    expect(refused(boundary, requests)).toEqual([]);
  });
});

test('the boundary is attached to every role when it is set, and to none otherwise', () => {
  const boundaries = (name: string) =>
    Object.values(findResources(readTemplate(name), 'AWS::IAM::Role')).map(
      ({ Properties }) => Properties.PermissionsBoundary,
    );
  expect(boundaries('dev')).toEqual(Array(7).fill(undefined));
  expect(boundaries('dev-with-all')).toEqual(Array(7).fill(boundaryOf('dev')));
});

/** The actions of the handlers of a resource's type, but for those that it does not need. */
function neededActions({ Type, Properties, DeletionPolicy }: Resource): readonly string[] {
  const isException = (handler: string, action: string) =>
    Object.entries(exceptions[Type] ?? {}).some(
      ([key, actions]) =>
        actions.test(action) && (key.includes(' ') || (handler !== 'read' && !has(Properties, key))),
    );
  const needed = Object.entries(handlersOf(Type))
    // With this policy CloudFormation never deletes the resource.
    .filter(([handler]) => handler !== 'delete' || DeletionPolicy !== 'Retain')
    .flatMap(([handler, actions]) => actions.filter((action) => !isException(handler, action)));
  return [...new Set(needed)];
}

/** Whether a resource has a property, like `Code.S3Key`. */
function has(properties: unknown, path: string): boolean {
  // biome-ignore lint/suspicious/noExplicitAny: each type of resource has properties of its own
  return path.split('.').reduce((value: any, name) => value?.[name], properties) !== undefined;
}

/** The resources to which an action applies. */
function resourcesFor(action: string, arns: readonly string[]): readonly string[] {
  if (resourceTypesOf(action).length === 0) return ['*'];
  const taken = arns.filter((each) => takes(action, each));
  if (taken.length === 0) throw new Error(`${action} takes none of ${arns.join(', ')}`);
  return taken;
}

function refused(statements: readonly Statement[], requests: readonly AccessRequest[]): readonly string[] {
  const texts = requests
    .filter((request) => !allows(statements, request))
    .map(({ action, resource }) => `${action} on ${resource}`);
  return [...new Set(texts)];
}
