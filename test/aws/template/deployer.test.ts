import { describe, expect, test } from 'vitest';
import { type Handlers, handlersOf, resourceTypesOf, takes } from './aws-definitions.ts';
import { boundaryOf, deployStatements, place, readDeployer, statementsOf } from './deployer-stack.ts';
import { resolveIntrinsics } from './intrinsics.ts';
import { type AccessRequest, allows, type Statement, toList } from './policy.ts';
import { readRoleStatements } from './role-statements.ts';
import { findResources, type Resource, readTemplate } from './template.ts';

const region = place['AWS::Region'];
const account = place['AWS::AccountId'];
const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:${account}:${rest}`;
const api = (path: string) => `arn:aws:apigateway:${region}::${path}`;

/** What CloudFormation calls a resource that has no name in the template. */
const named = (id: string, stage: string) => `book-catalog-${stage}-${id}-1A2B3C4D5E6F`;
const role = (id: string, stage: string) => `arn:aws:iam::${account}:role/${named(id, stage)}`;
const bucket = (stage: string) =>
  `arn:aws:s3:::book-catalog-${stage}-serverlessdeploymentbucket-1a2b3c4d5e6f`;
const tags = (path: string) => api(`/tags/${encodeURIComponent(api(path))}`);
const webAcl = (stage: string) => arn('wafv2', `regional/webacl/book-catalog-${stage}/0a1b2c3d`);

/** The ARNs of what the handlers of each type touch; `*` for what has none. */
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
    arn('logs', `log-group:${LogGroupName}:*`), // which of both is asked for differs between actions
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

/** The values of the condition keys, when CloudFormation acts for a deploy. */
const contexts = (stage: string): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  'iam:AttachRolePolicy': {
    'iam:PermissionsBoundary': boundaryOf(stage),
    'iam:PolicyARN': 'arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
  },
  'iam:CreateRole': { 'iam:PermissionsBoundary': boundaryOf(stage) },
  'iam:PutRolePermissionsBoundary': { 'iam:PermissionsBoundary': boundaryOf(stage) },
  'iam:PutRolePolicy': { 'iam:PermissionsBoundary': boundaryOf(stage) },
});

/** An action that a handler may call and that a deploy does not need. */
type Exception =
  /** It goes with a property that no resource of the type has. Reading calls it nevertheless. */
  | { readonly property: string; readonly actions: RegExp }
  | { readonly reason: string; readonly actions: RegExp };

const awsKeys: Exception = {
  reason: "the policies of AWS's own keys allow everybody who comes through the service",
  actions: /^kms:/,
};

const exceptions: Readonly<Record<string, readonly Exception[]>> = {
  'AWS::ApiGateway::Method': [{ property: 'Integration.Credentials', actions: /^iam:PassRole$/ }],
  'AWS::ApiGateway::RestApi': [
    { property: 'BodyS3Location', actions: /^s3:GetObject$/ },
    { property: 'Body', actions: /^iam:PassRole$/ },
  ],
  'AWS::DynamoDB::Table': [
    awsKeys,
    { property: 'ImportSourceSpecification', actions: /^dynamodb:(DescribeImport|ImportTable)$|^(logs|s3):/ },
    { property: 'KinesisStreamSpecification', actions: /^dynamodb:.*KinesisStreamingDestination$|^kinesis:/ },
    { property: 'ContributorInsightsSpecification', actions: /^dynamodb:UpdateContributorInsights$/ },
    { property: 'ResourcePolicy', actions: /^dynamodb:(Put|Delete)ResourcePolicy$/ },
    {
      reason: 'a table has no replicas; AWS::DynamoDB::GlobalTable would make them',
      actions: /Replica$|^iam:CreateServiceLinkedRole$|^dynamodb:(\w+Item|Scan|Query)$/,
    },
  ],
  'AWS::IAM::Role': [
    { reason: 'a boundary is never taken away', actions: /^iam:DeleteRolePermissionsBoundary$/ },
  ],
  'AWS::Lambda::Function': [
    awsKeys,
    { property: 'Code.S3ObjectVersion', actions: /^s3:GetObjectVersion$/ },
    { property: 'CapacityProviderConfig', actions: /^lambda:PassCapacityProvider$/ },
    {
      property: 'CodeSigningConfigArn',
      actions: /^lambda:(GetCodeSigningConfig|(Put|Delete)FunctionCodeSigningConfig)$/,
    },
    { property: 'FileSystemConfigs', actions: /^(elasticfilesystem|s3files):/ },
    { property: 'FunctionScalingConfig', actions: /^lambda:PutFunctionScalingConfig$/ },
    { property: 'Layers', actions: /^lambda:GetLayerVersion$/ },
    { property: 'PublishToLatestPublished', actions: /^lambda:PublishVersion$/ },
    { property: 'RecursiveLoop', actions: /^lambda:PutFunctionRecursionConfig$/ },
    { property: 'ReservedConcurrentExecutions', actions: /^lambda:(Put|Delete)FunctionConcurrency$/ },
    { property: 'RuntimeManagementConfig', actions: /^lambda:PutRuntimeManagementConfig$/ },
    { property: 'VpcConfig', actions: /^ec2:/ },
  ],
  'AWS::Logs::LogGroup': [
    {
      property: 'DataProtectionPolicy',
      actions: /^logs:(PutDataProtectionPolicy|CreateLogDelivery)$|^firehose:/,
    },
    { property: 'FieldIndexPolicies', actions: /^logs:(Put|Delete)IndexPolicy$/ },
    { property: 'KmsKeyId', actions: /^logs:(Associate|Disassociate)KmsKey$/ },
    { property: 'ResourcePolicyDocument', actions: /^logs:(Put|Delete)ResourcePolicy$/ },
    { property: 'DeletionProtectionEnabled', actions: /^logs:PutLogGroupDeletionProtection$/ },
    { property: 'BearerTokenAuthenticationEnabled', actions: /^logs:PutBearerTokenAuthentication$/ },
  ],
  'AWS::S3::Bucket': [
    { property: 'AbacStatus', actions: /^s3:PutBucketAbac$/ },
    { property: 'AccelerateConfiguration', actions: /^s3:PutAccelerateConfiguration$/ },
    { property: 'AccessControl', actions: /^s3:(PutBucketAcl|PutObjectAcl|GetBucketAcl)$/ },
    { property: 'AnalyticsConfigurations', actions: /^s3:(Put|Delete\w*)AnalyticsConfiguration$/ },
    { property: 'CorsConfiguration', actions: /^s3:(PutBucketCORS|DeleteBucketCors)$/ },
    { property: 'IntelligentTieringConfigurations', actions: /^s3:PutIntelligentTieringConfiguration$/ },
    { property: 'InventoryConfigurations', actions: /^s3:PutInventoryConfiguration$/ },
    { property: 'LifecycleConfiguration', actions: /^s3:PutLifecycleConfiguration$/ },
    { property: 'LoggingConfiguration', actions: /^s3:PutBucketLogging$/ },
    { property: 'MetadataConfiguration', actions: /^s3:(Create|Update|Delete)BucketMetadata\w+$|^s3tables:/ },
    { property: 'MetricsConfigurations', actions: /^s3:PutMetricsConfiguration$/ },
    { property: 'NotificationConfiguration', actions: /^s3:PutBucketNotification$/ },
    { property: 'ObjectLockConfiguration', actions: /^s3:PutBucketObjectLockConfiguration$/ },
    { property: 'OwnershipControls', actions: /^s3:PutBucketOwnershipControls$/ },
    { property: 'ReplicationConfiguration', actions: /^s3:PutReplicationConfiguration$|^iam:PassRole$/ },
    { property: 'WebsiteConfiguration', actions: /^s3:(Put|Delete)BucketWebsite$/ },
    { reason: 'the framework empties the bucket, not CloudFormation', actions: /^s3:DeleteObject$/ },
  ],
  'AWS::SecretsManager::Secret': [
    {
      property: 'ReplicaRegions',
      actions: /^secretsmanager:(ReplicateSecretToRegions|RemoveRegionsFromReplication)$/,
    },
  ],
  'AWS::SNS::Subscription': [{ property: 'SubscriptionRoleArn', actions: /^iam:/ }],
  'AWS::SNS::Topic': [
    { property: 'DataProtectionPolicy', actions: /^sns:PutDataProtectionPolicy$/ },
    { property: 'DeliveryStatusLogging', actions: /^iam:/ },
  ],
  'AWS::WAFv2::WebACL': [{ property: 'MonetizationConfig', actions: /^payments:/ }],
  'AWS::WAFv2::WebACLAssociation': [
    { reason: 'the resource is a stage of API Gateway', actions: /^(?!wafv2:|apigateway:)/ },
    { reason: 'the web ACL is not of another account', actions: /^wafv2:(Get|Put)PermissionPolicy$/ },
  ],
};

/** What the commands call besides what CloudFormation does for them. */
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
  // For a change set that makes or changes a stack CloudFormation may ask for these as well.
  'cloudformation:CreateStack',
  'cloudformation:UpdateStack',
  // To upload packages, find those of a rollback, and empty the bucket before it is removed.
  ...['DeleteObject', 'DeleteObjectVersion', 'GetBucketLocation', 'ListBucketVersions', 'PutObject'].map(
    (operation) => `s3:${operation}`,
  ),
  'lambda:GetFunctionConfiguration',
  'lambda:ListVersionsByFunction',
  'ssm:GetParametersByPath',
];

/** The stages, and what they are packaged as. */
const packages = [
  ['prod', 'prod'],
  ['dev', 'dev'],
  ['dev', 'dev-with-all'],
] as const;

describe.each(packages)('whoever deploys %s, packaged as %s,', (stage, name) => {
  const template = readTemplate(name);
  const statements = deployStatements(readDeployer(stage, { HostedZoneId: 'Z0123456789ABCDEFGHIJ' }));
  const types = [...new Set(Object.values(template.Resources).map(({ Type }) => Type))].toSorted();

  test.each(types)('may do what CloudFormation does with %s', (type) => {
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

test('nothing is allowed that neither CloudFormation nor a command needs, and nothing is left out', () => {
  const template = readTemplate('dev-with-all');
  const needed = Object.values(template.Resources).flatMap((resource) =>
    neededActions(resource.Type, resource),
  );
  const statements = deployStatements(readDeployer('dev', { HostedZoneId: 'Z0123456789ABCDEFGHIJ' }));
  const allowed = statements.flatMap(({ Action }) => toList(Action));
  const afterwards = ['iam:CreateServiceLinkedRole']; // API Gateway asks for it
  expect([...new Set(allowed)].toSorted()).toEqual(
    [...new Set([...needed, ...calledByCommands, ...afterwards])].toSorted(),
  );
});

describe('the stack', () => {
  const resources = readDeployer('prod', {
    Repository: 'owner/name',
    OwnerId: '123',
    RepositoryId: '456',
    HostedZoneId: 'Z0123456789ABCDEFGHIJ',
  });
  const statements = deployStatements(resources);
  const may = (action: string, resource: string, context = {}) =>
    allows(statements, { action, resource, context });

  test('trusts one environment of one repository, in both forms of its name at GitHub', () => {
    const [{ Condition, Action }, ...others] =
      resources.DeployRole.Properties.AssumeRolePolicyDocument.Statement;
    expect(others).toEqual([]);
    expect(Action).toBe('sts:AssumeRoleWithWebIdentity');
    expect(Condition).toEqual({
      StringEquals: {
        'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
        'token.actions.githubusercontent.com:sub': [
          'repo:owner/name:environment:prod',
          'repo:owner@123/name@456:environment:prod',
        ],
      },
    });
  });

  test('has policies that are short enough for IAM', () => {
    for (const [id, { Type, Properties }] of Object.entries(resources)) {
      if (Type !== 'AWS::IAM::ManagedPolicy') continue;
      expect(JSON.stringify(Properties.PolicyDocument).length, id).toBeLessThanOrEqual(6_144);
    }
  });

  test('lets a traced stage have the role of API Gateway that an account lacks at first, and no other', () => {
    const create = (service: string) =>
      may(
        'iam:CreateServiceLinkedRole',
        `arn:aws:iam::${account}:role/aws-service-role/${service}/AWSServiceRole`,
        {
          'iam:AWSServiceName': service,
        },
      );
    expect(create('ops.apigateway.amazonaws.com')).toBe(true);
    expect(create('ecs.amazonaws.com')).toBe(false);
  });

  test('lets nobody read the books, delete the table, or change the settings', () => {
    for (const action of ['GetItem', 'Query', 'Scan', 'PutItem', 'DeleteItem', 'DeleteTable']) {
      expect(may(`dynamodb:${action}`, arn('dynamodb', 'table/book-catalog-prod')), action).toBe(false);
    }
    for (const action of ['PutParameter', 'DeleteParameter']) {
      expect(may(`ssm:${action}`, arn('ssm', 'parameter/book-catalog/prod/alarmEmail')), action).toBe(false);
    }
  });

  test('lets nobody near the secrets, the settings and the functions of another stage', () => {
    const of = (stage: string) => [
      may(
        'secretsmanager:GetSecretValue',
        arn('secretsmanager', `secret:book-catalog-${stage}-signing-0a1b-A1b2C3`),
      ),
      may('ssm:GetParametersByPath', arn('ssm', `parameter/book-catalog/${stage}/`)),
      may('lambda:UpdateFunctionCode', arn('lambda', `function:book-catalog-${stage}-getBook`)),
    ];
    expect(of('prod')).toEqual([true, true, true]);
    expect(of('dev')).toEqual([false, false, false]);
  });

  test('makes the boundary a setting of the stage', () => {
    expect(resources.BoundarySetting.Properties).toMatchObject({
      Name: '/book-catalog/prod/permissionsBoundary',
      Value: boundaryOf('prod'),
    });
  });

  describe('a role of the stage', () => {
    const name = role('GetBookRole', 'prod');

    test.each(['iam:CreateRole', 'iam:PutRolePolicy', 'iam:PutRolePermissionsBoundary'])(
      'is refused without the boundary: %s',
      (action) => {
        const withBoundary = (boundary: string) => may(action, name, { 'iam:PermissionsBoundary': boundary });
        expect(withBoundary(boundaryOf('prod'))).toBe(true);
        expect(withBoundary(boundaryOf('dev'))).toBe(false);
        expect(withBoundary('arn:aws:iam::aws:policy/AdministratorAccess')).toBe(false);
        expect(may(action, name)).toBe(false);
      },
    );

    test("gets no policy but AWS's for access logs, and that with the boundary only", () => {
      const attach = (policy: string, context = {}) =>
        may('iam:AttachRolePolicy', name, {
          'iam:PolicyARN': `arn:aws:iam::aws:policy/${policy}`,
          ...context,
        });
      const bounded = { 'iam:PermissionsBoundary': boundaryOf('prod') };
      expect(attach('service-role/AmazonAPIGatewayPushToCloudWatchLogs', bounded)).toBe(true);
      expect(attach('service-role/AmazonAPIGatewayPushToCloudWatchLogs')).toBe(false);
      expect(attach('AdministratorAccess', bounded)).toBe(false);
    });

    test('never loses its boundary, whose policy cannot be changed either', () => {
      expect(may('iam:DeleteRolePermissionsBoundary', name)).toBe(false);
      for (const action of ['CreatePolicyVersion', 'SetDefaultPolicyVersion', 'DeletePolicy']) {
        expect(may(`iam:${action}`, boundaryOf('prod')), action).toBe(false);
      }
    });

    test('that is not of the stage cannot be made or passed', () => {
      const context = {
        'iam:PermissionsBoundary': boundaryOf('prod'),
        'iam:PassedToService': 'lambda.amazonaws.com',
      };
      for (const action of ['iam:CreateRole', 'iam:PassRole']) {
        expect(may(action, name, context), action).toBe(true);
        expect(may(action, role('GetBookRole', 'dev'), context), action).toBe(false);
        expect(may(action, `arn:aws:iam::${account}:role/Admin`, context), action).toBe(false);
      }
    });

    test('can be passed to Lambda and API Gateway only', () => {
      const pass = (service: string) => may('iam:PassRole', name, { 'iam:PassedToService': service });
      expect(pass('lambda.amazonaws.com')).toBe(true);
      expect(pass('ec2.amazonaws.com')).toBe(false);
    });
  });
});

describe('the boundary', () => {
  const boundary = statementsOf(readDeployer('prod'), 'Boundary');
  const may = (action: string, resource: string, context = {}) =>
    allows(boundary, { action, resource, context });

  test('is attached to every role when it is set, and to none otherwise', () => {
    const boundaries = (name: string) =>
      Object.values(findResources(readTemplate(name), 'AWS::IAM::Role')).map(
        ({ Properties }) => Properties.PermissionsBoundary,
      );
    expect(boundaries('dev')).toEqual(Array(7).fill(undefined));
    expect(boundaries('dev-with-all')).toEqual(Array(7).fill(boundaryOf('dev')));
  });

  test("allows everything that the functions' roles allow", () => {
    const requests = [...readRoleStatements(readTemplate()).values()]
      .flat()
      .flatMap(({ Action, Resource }) =>
        toList(Action).flatMap((action) => toList(Resource).map((resource) => ({ action, resource }))),
      );
    expect(requests.length).toBeGreaterThan(30);
    expect(refused(boundary, requests)).toEqual([]);
  });

  test("allows what AWS's policy for access logs allows, to read in API Gateway's own log groups only", () => {
    const onGroup = (action: string, group: string) =>
      may(`logs:${action}`, arn('logs', `log-group:${group}:*`));
    for (const action of ['CreateLogGroup', 'CreateLogStream', 'DescribeLogStreams', 'PutLogEvents']) {
      expect(onGroup(action, '/aws/api-gateway/book-catalog-dev'), action).toBe(true);
    }
    for (const action of ['FilterLogEvents', 'GetLogEvents']) {
      expect(onGroup(action, '/aws/apigateway/welcome'), action).toBe(true);
      expect(onGroup(action, '/aws/lambda/book-catalog-prod-getBook'), action).toBe(false);
    }
    expect(may('logs:DescribeLogGroups', '*')).toBe(true);
  });

  test('lets the keys of AWS for the table and the environment be used', () => {
    const decrypt = (context: object) => may('kms:Decrypt', arn('kms', 'key/0a1b'), context);
    for (const action of ['CreateGrant', 'DescribeKey', 'Encrypt', 'GenerateDataKey']) {
      const context = { 'kms:ViaService': `dynamodb.${region}.amazonaws.com` };
      expect(may(`kms:${action}`, arn('kms', 'key/0a1b'), context), action).toBe(true);
    }
    expect(decrypt({ 'kms:ViaService': `dynamodb.${region}.amazonaws.com` })).toBe(true);
    expect(decrypt({ 'kms:ViaService': `lambda.${region}.amazonaws.com` })).toBe(true);
    const environment = (name: string) => ({
      'kms:EncryptionContext:aws:lambda:FunctionArn': arn('lambda', `function:${name}`),
    });
    expect(decrypt(environment('book-catalog-prod-getBook'))).toBe(true);
    expect(decrypt(environment('other'))).toBe(false);
    expect(decrypt({ 'kms:ViaService': `s3.${region}.amazonaws.com` })).toBe(false);
  });

  test('refuses what no function needs', () => {
    expect(may('dynamodb:GetItem', arn('dynamodb', 'table/book-catalog-prod'))).toBe(true);
    expect(may('dynamodb:GetItem', arn('dynamodb', 'table/book-catalog-dev'))).toBe(false);
    expect(may('dynamodb:DeleteTable', arn('dynamodb', 'table/book-catalog-prod'))).toBe(false);
    expect(may('logs:GetLogEvents', arn('logs', 'log-group:/aws/lambda/book-catalog-prod-getBook:*'))).toBe(
      false,
    );
    expect(
      may('secretsmanager:GetSecretValue', arn('secretsmanager', 'secret:book-catalog-prod-signing-a')),
    ).toBe(false);
    expect(may('iam:CreateUser', `arn:aws:iam::${account}:user/anybody`)).toBe(false);
    expect(may('iam:PassRole', role('GetBookRole', 'prod'))).toBe(false);
    expect(may('sts:AssumeRole', `arn:aws:iam::${account}:role/Admin`)).toBe(false);
    expect(may('s3:GetObject', `${bucket('prod')}/template.json`)).toBe(false);
  });
});

/** The actions of a type's handlers, but for those that a resource does not need. */
function neededActions(type: string, resource: Resource): readonly string[] {
  const needed = Object.entries(handlersOf(type) as Required<Handlers>).flatMap(([handler, actions]) => {
    // With this policy CloudFormation never deletes the resource.
    if (handler === 'delete' && resource.DeletionPolicy === 'Retain') return [];
    return actions.filter(
      (action) =>
        !(exceptions[type] ?? []).some((exception) => {
          if (!exception.actions.test(action)) return false;
          return (
            'reason' in exception || (handler !== 'read' && !has(resource.Properties, exception.property))
          );
        }),
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

/** Those of the touched resources that an action takes. */
function resourcesFor(action: string, arns: readonly string[]): readonly string[] {
  if (resourceTypesOf(action).length === 0) return ['*'];
  const taken = arns.filter((each) => takes(action, each));
  if (taken.length === 0) throw new Error(`${action} takes none of ${arns.join(', ')}`);
  return taken;
}

function passedTo(type: string, action: string): Readonly<Record<string, string>> {
  if (action !== 'iam:PassRole') return {};
  return {
    'iam:PassedToService': type.startsWith('AWS::Lambda')
      ? 'lambda.amazonaws.com'
      : 'apigateway.amazonaws.com',
  };
}

function refused(statements: readonly Statement[], requests: readonly AccessRequest[]): readonly string[] {
  const texts = requests
    .filter((request) => !allows(statements, request))
    .map(({ action, resource }) => `${action} on ${resource}`);
  return [...new Set(texts)];
}
