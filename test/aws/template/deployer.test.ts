import { describe, expect, test } from 'vitest';
import { resolveIntrinsics } from '../../simulators/cloudformation.ts';
import { type AccessRequest, allows, type Statement, toList } from '../../simulators/iam.ts';
import { type Handlers, handlersOf, resourceTypesOf, takes } from './aws-definitions.ts';
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
const tags = (path: string) => api(`/tags/${encodeURIComponent(api(path))}`);
const webAcl = (stage: string) => arn('wafv2', `regional/webacl/book-catalog-${stage}/0a1b2c3d`);

/** The ARNs of the resources of each type's handlers; `*` without an ARN. */
const touched: Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: each type of resource has properties of its own
  Record<string, (stage: string, id: string, properties: any) => readonly string[]>
> = {
  'AWS::ApiGateway::Account': (stage) => [api('/account'), role('ApiGatewayLogsRole', stage)],
  'AWS::ApiGateway::BasePathMapping': () => [
    api('/domainnames/api.example.com/basepathmappings'),
    api('/domainnames/api.example.com/basepathmappings/(none)'),
  ],
  'AWS::ApiGateway::Deployment': () => [
    api('/restapis/a1b2/deployments'),
    api('/restapis/a1b2/deployments/c3'),
  ],
  'AWS::ApiGateway::DomainName': () => [
    api('/domainnames'),
    api('/domainnames/api.example.com'),
    tags('/domainnames/api.example.com'),
  ],
  'AWS::ApiGateway::GatewayResponse': () => [api('/restapis/a1b2/gatewayresponses/DEFAULT_4XX')],
  'AWS::ApiGateway::Method': () => [
    api('/restapis/a1b2/resources/c3/methods/GET'),
    api('/restapis/a1b2/resources/c3/methods/GET/integration'),
  ],
  'AWS::ApiGateway::Resource': () => [api('/restapis/a1b2/resources'), api('/restapis/a1b2/resources/c3')],
  'AWS::ApiGateway::RestApi': () => [api('/restapis'), api('/restapis/a1b2'), tags('/restapis/a1b2')],
  'AWS::ApiGateway::Stage': (stage) => [
    api('/restapis/a1b2/stages'),
    api(`/restapis/a1b2/stages/${stage}`),
    tags(`/restapis/a1b2/stages/${stage}`),
  ],
  'AWS::CloudWatch::Alarm': (stage, id) => [arn('cloudwatch', `alarm:${named(id, stage)}`)],
  'AWS::CloudWatch::Dashboard': (_stage, _id, { DashboardName }) => [
    `arn:aws:cloudwatch::${account}:dashboard/${DashboardName}`,
  ],
  'AWS::DynamoDB::Table': (_stage, _id, { TableName }) => [arn('dynamodb', `table/${TableName}`)],
  'AWS::IAM::Role': (stage, id) => [role(id, stage)],
  'AWS::Lambda::Function': (stage, id, { FunctionName, Code }) => [
    arn('lambda', `function:${FunctionName}`),
    role(id.replace('LambdaFunction', 'Role'), stage),
    `${bucket(stage)}/${Code.S3Key}`,
  ],
  'AWS::Lambda::Permission': (stage) => [arn('lambda', `function:book-catalog-${stage}-createToken`)],
  'AWS::Logs::LogGroup': (_stage, _id, { LogGroupName }) => [
    arn('logs', `log-group:${LogGroupName}`),
    arn('logs', `log-group:${LogGroupName}:*`), // the form differs between actions
  ],
  'AWS::Route53::RecordSet': (_stage, _id, { HostedZoneId }) => [
    `arn:aws:route53:::hostedzone/${HostedZoneId}`,
    'arn:aws:route53:::change/C0123456789',
  ],
  'AWS::S3::Bucket': (stage) => [bucket(stage)],
  'AWS::S3::BucketPolicy': (stage) => [bucket(stage)],
  'AWS::SecretsManager::Secret': (_stage, _id, { Name }) => [
    arn(
      'secretsmanager',
      `secret:${resolveIntrinsics(Name, { refs: { 'AWS::StackId': 'arn/stack/0a1b' } })}-A1b2C3`,
    ),
  ],
  'AWS::SNS::Subscription': (stage) => [arn('sns', named('AlarmTopic', stage))],
  'AWS::SNS::Topic': (stage, id) => [arn('sns', named(id, stage))],
  'AWS::WAFv2::WebACL': (stage) => [webAcl(stage)],
  'AWS::WAFv2::WebACLAssociation': (stage) => [webAcl(stage), api(`/restapis/a1b2/stages/${stage}`)],
};

/** The condition keys of CloudFormation's requests. */
const contexts = (stage: string): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  'iam:AttachRolePolicy': {
    'iam:PermissionsBoundary': boundaryOf(stage),
    'iam:PolicyARN': 'arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
  },
  'iam:CreateRole': { 'iam:PermissionsBoundary': boundaryOf(stage) },
  'iam:PutRolePermissionsBoundary': { 'iam:PermissionsBoundary': boundaryOf(stage) },
  'iam:PutRolePolicy': { 'iam:PermissionsBoundary': boundaryOf(stage) },
});

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

/** The requests of the commands themselves, without CloudFormation's. */
const calledByCommands: readonly string[] = [
  ...[
    'CreateChangeSet',
    'DeleteChangeSet',
    'DeleteStack',
    'DescribeChangeSet',
    'DescribeStackEvents',
    'DescribeStackResource',
    'DescribeStackResources',
    'DescribeStacks',
    'ExecuteChangeSet',
    'GetTemplate',
    'ListStackResources',
    'TagResource',
    'UntagResource',
    'ValidateTemplate',
  ].map((operation) => `cloudformation:${operation}`),
  // CloudFormation may also require these for a change set.
  'cloudformation:CreateStack',
  'cloudformation:UpdateStack',
  // Uploads packages, finds those of a rollback, and empties the bucket before its removal.
  ...['DeleteObject', 'DeleteObjectVersion', 'GetBucketLocation', 'ListBucketVersions', 'PutObject'].map(
    (operation) => `s3:${operation}`,
  ),
  'lambda:GetFunctionConfiguration',
  'lambda:ListVersionsByFunction',
  'ssm:GetParametersByPath',
];

/** The stages and their packages. */
const packages = [
  ['prod', 'prod'],
  ['dev', 'dev'],
  ['dev', 'dev-with-all'],
] as const;

describe.each(packages)('the deployer of %s, packaged as %s,', (stage, name) => {
  const template = readTemplate(name);
  const statements = deployStatements(readDeployer(stage, { HostedZoneId: 'Z0123456789ABCDEFGHIJ' }));
  const types = [...new Set(Object.values(template.Resources).map(({ Type }) => Type))].toSorted();

  test.each(types)("may carry out CloudFormation's requests for %s", (type) => {
    const requests = Object.entries(findResources(template, type)).flatMap(([id, resource]) =>
      neededActions(type, resource).flatMap((action) =>
        resourcesFor(action, touched[type]?.(stage, id, resource.Properties) ?? []).map((resource) => ({
          action,
          resource,
          context: { ...contexts(stage)[action], ...passedTo(type, action) },
        })),
      ),
    );

    expect(requests.length).toBeGreaterThan(0);
    expect(refused(statements, requests)).toEqual([]);
  });
});

test('the policies allow exactly what CloudFormation and the commands need', () => {
  const template = readTemplate('dev-with-all');
  const needed = Object.values(template.Resources).flatMap((resource) =>
    neededActions(resource.Type, resource),
  );
  const statements = deployStatements(readDeployer('dev', { HostedZoneId: 'Z0123456789ABCDEFGHIJ' }));
  const allowed = statements.flatMap(({ Action }) => toList(Action));
  const afterwards = ['iam:CreateServiceLinkedRole']; // API Gateway requires it
  expect([...new Set(allowed)].toSorted()).toEqual(
    [...new Set([...needed, ...calledByCommands, ...afterwards])].toSorted(),
  );
});

/** Requests of a subject, with what is decided: action, resource, and the values of condition keys. */
type Decisions = readonly (readonly [boolean, string, string, Readonly<Record<string, string>>?])[];

function expectDecisions(statements: readonly Statement[], decisions: Decisions): void {
  for (const [allowed, action, resource, context = {}] of decisions) {
    const reason = `${action} on ${resource} with ${JSON.stringify(context)}`;
    expect(allows(statements, { action, resource, context }), reason).toBe(allowed);
  }
}

describe('the stack', () => {
  const resources = readDeployer('prod', {
    Repository: 'owner/name',
    OwnerId: '123',
    RepositoryId: '456',
    HostedZoneId: 'Z0123456789ABCDEFGHIJ',
  });
  const boundary = statementsOf(resources, 'Boundary');
  const iam = (rest: string) => `arn:aws:iam::${account}:${rest}`;
  const table = (stage: string) => arn('dynamodb', `table/book-catalog-${stage}`);
  const logs = (group: string) => arn('logs', `log-group:${group}:*`);
  const own = role('GetBookRole', 'prod');
  const bounded = { 'iam:PermissionsBoundary': boundaryOf('prod') };
  const accessLogs = {
    'iam:PolicyARN': 'arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
  };
  const passedTo = (service: string) => ({ 'iam:PassedToService': `${service}.amazonaws.com` });
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

  const decisionsOnDeployer: Readonly<Record<string, Decisions>> = {
    'make the role of API Gateway that an account lacks at first, and no other': [
      [true, 'iam:CreateServiceLinkedRole', ...linkedRole('ops.apigateway')],
      [false, 'iam:CreateServiceLinkedRole', ...linkedRole('ecs')],
    ],
    'neither read the books, nor delete the table, nor change the settings': [
      ...['GetItem', 'Query', 'Scan', 'PutItem', 'DeleteItem', 'DeleteTable'].map(
        (action) => [false, `dynamodb:${action}`, table('prod')] as const,
      ),
      [false, 'ssm:PutParameter', arn('ssm', 'parameter/book-catalog/prod/alarmEmail')],
      [false, 'ssm:DeleteParameter', arn('ssm', 'parameter/book-catalog/prod/alarmEmail')],
    ],
    'reach the secrets, the settings and the functions of its own stage only': [
      ...[true, false].flatMap((may): Decisions => {
        const stage = may ? 'prod' : 'dev';
        const secret = `secret:book-catalog-${stage}-signing-0a1b-A1b2C3`;
        return [
          [may, 'secretsmanager:GetSecretValue', arn('secretsmanager', secret)],
          [may, 'ssm:GetParametersByPath', arn('ssm', `parameter/book-catalog/${stage}/`)],
          [may, 'lambda:UpdateFunctionCode', arn('lambda', `function:book-catalog-${stage}-getBook`)],
        ];
      }),
    ],
    'make and change a role with the boundary only': [
      'CreateRole',
      'PutRolePolicy',
      'PutRolePermissionsBoundary',
    ]
      .map((action) => `iam:${action}`)
      .flatMap(
        (action): Decisions => [
          [true, action, own, bounded],
          [false, action, own, { 'iam:PermissionsBoundary': boundaryOf('dev') }],
          [false, action, own, { 'iam:PermissionsBoundary': 'arn:aws:iam::aws:policy/AdministratorAccess' }],
          [false, action, own],
        ],
      ),
    "give a role no policy but AWS's for access logs, and that with the boundary only": [
      [true, 'iam:AttachRolePolicy', own, { ...bounded, ...accessLogs }],
      [false, 'iam:AttachRolePolicy', own, accessLogs],
      [
        false,
        'iam:AttachRolePolicy',
        own,
        { ...bounded, 'iam:PolicyARN': 'arn:aws:iam::aws:policy/AdministratorAccess' },
      ],
    ],
    'neither take the boundary from a role nor change its policy': [
      [false, 'iam:DeleteRolePermissionsBoundary', own],
      ...['CreatePolicyVersion', 'SetDefaultPolicyVersion', 'DeletePolicy'].map(
        (action) => [false, `iam:${action}`, boundaryOf('prod')] as const,
      ),
    ],
    'make and pass roles of the stage only, and pass them to Lambda and API Gateway only': [
      ...['iam:CreateRole', 'iam:PassRole'].flatMap((action) =>
        [own, role('GetBookRole', 'dev'), iam('role/Admin')].map(
          (name) => [name === own, action, name, { ...bounded, ...passedTo('lambda') }] as const,
        ),
      ),
      [true, 'iam:PassRole', own, passedTo('apigateway')],
      [false, 'iam:PassRole', own, passedTo('ec2')],
    ],
  };

  test.each(Object.entries(decisionsOnDeployer))('lets whoever deploys %s', (_title, decisions) => {
    expectDecisions(deployStatements(resources), decisions);
  });

  const decisionsOnRoles: Readonly<Record<string, Decisions>> = {
    "what AWS's policy for access logs allows, to read in API Gateway's own log groups only": [
      ...['CreateLogGroup', 'CreateLogStream', 'DescribeLogStreams', 'PutLogEvents'].map(
        (action) => [true, `logs:${action}`, logs('/aws/api-gateway/book-catalog-dev')] as const,
      ),
      ...['logs:FilterLogEvents', 'logs:GetLogEvents'].flatMap(
        (action): Decisions => [
          [true, action, logs('/aws/apigateway/welcome')],
          [false, action, logs('/aws/lambda/book-catalog-prod-getBook')],
        ],
      ),
      [true, 'logs:DescribeLogGroups', '*'],
    ],
    'the keys of AWS for the table and the environment': [
      ...['CreateGrant', 'Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey'].map(
        (action) => [true, `kms:${action}`, arn('kms', 'key/0a1b'), through('dynamodb')] as const,
      ),
      [true, 'kms:Decrypt', arn('kms', 'key/0a1b'), through('lambda')],
      [true, 'kms:Decrypt', arn('kms', 'key/0a1b'), environmentOf('book-catalog-prod-getBook')],
      [false, 'kms:Decrypt', arn('kms', 'key/0a1b'), environmentOf('other')],
      [false, 'kms:Decrypt', arn('kms', 'key/0a1b'), through('s3')],
    ],
    'nothing that no function needs': [
      [true, 'dynamodb:GetItem', table('prod')],
      [false, 'dynamodb:GetItem', table('dev')],
      [false, 'dynamodb:DeleteTable', table('prod')],
      [false, 'secretsmanager:GetSecretValue', arn('secretsmanager', 'secret:book-catalog-prod-signing-a')],
      [false, 'iam:CreateUser', iam('user/anybody')],
      [false, 'iam:PassRole', own],
      [false, 'sts:AssumeRole', iam('role/Admin')],
      [false, 's3:GetObject', `${bucket('prod')}/template.json`],
    ],
  };

  test.each(Object.entries(decisionsOnRoles))('bounds the roles of the stage: %s', (_title, decisions) => {
    expectDecisions(boundary, decisions);
  });

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

/** The actions of a type's handlers, but for those that a resource does not need. */
function neededActions(type: string, resource: Resource): readonly string[] {
  const needed = Object.entries(handlersOf(type) as Required<Handlers>).flatMap(([handler, actions]) => {
    // With this policy CloudFormation never deletes the resource.
    if (handler === 'delete' && resource.DeletionPolicy === 'Retain') return [];
    return actions.filter(
      (action) =>
        !Object.entries(exceptions[type] ?? {}).some(
          ([key, actions]) =>
            actions.test(action) &&
            (key.includes(' ') || (handler !== 'read' && !has(resource.Properties, key))),
        ),
    );
  });
  return [...new Set(needed)];
}

/** Whether a resource has a property, like `Code.S3Key`. */
function has(properties: unknown, path: string): boolean {
  let value = properties;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
  return value !== undefined;
}

/** The resources to which an action applies. */
function resourcesFor(action: string, arns: readonly string[]): readonly string[] {
  if (resourceTypesOf(action).length === 0) return ['*'];
  const taken = arns.filter((each) => takes(action, each));
  if (taken.length === 0) throw new Error(`${action} takes none of ${arns.join(', ')}`);
  return taken;
}

function passedTo(type: string, action: string): Readonly<Record<string, string>> {
  if (action !== 'iam:PassRole') return {};
  const service = type.startsWith('AWS::Lambda') ? 'lambda' : 'apigateway';
  return { 'iam:PassedToService': `${service}.amazonaws.com` };
}

function refused(statements: readonly Statement[], requests: readonly AccessRequest[]): readonly string[] {
  const texts = requests
    .filter((request) => !allows(statements, request))
    .map(({ action, resource }) => `${action} on ${resource}`);
  return [...new Set(texts)];
}
